// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice An ERC-20. Its Transfer shares the topic with ERC-721 and must never reach an NFT index.
contract Driftwood is ERC20 {
    constructor(address[] memory holders) ERC20("Driftwood", "DRIFT") {
        for (uint256 i; i < holders.length; ++i) {
            _mint(holders[i], 1_000_000 ether);
        }
    }
}
