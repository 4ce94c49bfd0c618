// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {EarlyToken} from "./EarlyToken.sol";

/// A token as the libraries of early 2018 made it: all but the id is indexed in its Transfer, which so is an ERC-20 one.
contract Draft is EarlyToken {
    event Transfer(address indexed from, address indexed to, uint256 tokenId);

    function tell(address from, address to, uint256 tokenId) internal override {
        emit Transfer(from, to, tokenId);
    }
}
