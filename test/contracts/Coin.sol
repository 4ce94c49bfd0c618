// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// Shares the topic of Transfer with every token here, and is none of them.
contract Coin is ERC20("Coin", "COIN") {
    constructor() {
        _mint(msg.sender, 1_000_000);
    }
}
