// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC721A} from "erc721a/contracts/ERC721A.sol";

/// An ERC-721A token whose first ids are minted in the constructor with one ERC-2309 log.
contract Parade is ERC721A {
    constructor(address to, uint256 quantity) ERC721A("Parade", "PRDE") {
        _mintERC2309(to, quantity);
    }

    function mint(address to, uint256 quantity) external {
        _mint(to, quantity);
    }

    function burn(uint256 tokenId) external {
        _burn(tokenId);
    }
}
