// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC721ABurnable} from "erc721a/contracts/extensions/ERC721ABurnable.sol";
import {ERC721A, IERC721A} from "erc721a/contracts/ERC721A.sol";

/// @notice ERC-721A that mints in batches; its documents and pictures lie on a web server.
contract MothAtlas is ERC721ABurnable {
    string private _base;

    constructor(string memory base) ERC721A("Moth Atlas", "MOTH") {
        _base = base;
    }

    function collect(address to, uint256 quantity) external {
        _mint(to, quantity);
    }

    function contractURI() external view returns (string memory) {
        return string.concat(_base, "collection.json");
    }

    function tokenURI(uint256 tokenId) public view override(ERC721A, IERC721A) returns (string memory) {
        if (!_exists(tokenId)) _revert(URIQueryForNonexistentToken.selector);
        return string.concat(_base, _toString(tokenId), ".json");
    }

    function _startTokenId() internal pure override returns (uint256) {
        return 1;
    }
}
