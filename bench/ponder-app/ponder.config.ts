import { createConfig } from "ponder";
import { parseAbi } from "viem";

const erc721 = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"]);
const erc1155 = parseAbi([
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
]);

/** Every contract of the chain, as our own indexer does it: a list of addresses would not be faster. */
export default createConfig({
  chains: {
    bench: { id: Number(process.env.BENCH_CHAIN_ID), rpc: (process.env.BENCH_RPC_URLS ?? "").split(",") },
  },
  contracts: {
    Erc721: { abi: erc721, chain: "bench" },
    Erc1155: { abi: erc1155, chain: "bench" },
  },
});
