import { createRequire } from "node:module";
import type { Hex } from "viem";

/** The part of Multicall3 that we use, for chains of tests. Source: its interface. */
const SOURCE = `
  // SPDX-License-Identifier: MIT
  pragma solidity ^0.8.20;
  contract Aggregator {
    struct Call { address target; bool allowFailure; bytes callData; }
    struct Result { bool success; bytes returnData; }
    function aggregate3(Call[] calldata calls) external payable returns (Result[] memory results) {
      results = new Result[](calls.length);
      for (uint256 i = 0; i < calls.length; i++) {
        (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
        require(success || calls[i].allowFailure);
        results[i] = Result(success, data);
      }
    }
  }
`;

type Solc = { compile: (input: string) => string };
type Output = { contracts: { "a.sol": { Aggregator: { evm: { deployedBytecode: { object: string } } } } } };

/** Runtime code to be set at the address of Multicall3. */
export function compileMulticall3(): Hex {
  const solc = createRequire(import.meta.url)("solc") as Solc;
  const input = {
    language: "Solidity",
    sources: { "a.sol": { content: SOURCE } },
    settings: { evmVersion: "paris", outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  return `0x${output.contracts["a.sol"].Aggregator.evm.deployedBytecode.object}`;
}
