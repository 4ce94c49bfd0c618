// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {EarlyToken} from "./EarlyToken.sol";

/// A token of 2017: nothing in its Transfer is indexed.
contract Kitten is EarlyToken {
    event Transfer(address from, address to, uint256 tokenId);

    function tell(address from, address to, uint256 tokenId) internal override {
        emit Transfer(from, to, tokenId);
    }
}
