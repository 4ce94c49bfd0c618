// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC721A, IERC721A} from "erc721a/contracts/ERC721A.sol";
import {ERC721ABurnable} from "erc721a/contracts/extensions/ERC721ABurnable.sol";
import {DataUri} from "./DataUri.sol";

/// @notice ERC-721A that mints its first tokens in the constructor with one ERC-2309 log. JSON as plain UTF-8 text.
contract PaperCranes is ERC721ABurnable {
    string[8] private _paper = ["ef476f", "ffd166", "06d6a0", "118ab2", "f78c6b", "83c5be", "b388eb", "8d99ae"];
    string[8] private _paperName = ["Rose", "Straw", "Mint", "Indigo", "Apricot", "Celadon", "Wisteria", "Newsprint"];
    string[5] private _fold = ["Classic", "Flapping", "Sleeping", "Two-headed", "Crown"];

    constructor(address to, uint256 quantity) ERC721A("Paper Cranes", "CRANE") {
        _mintERC2309(to, quantity);
    }

    function fold(address to, uint256 quantity) external {
        _mint(to, quantity);
    }

    function tokenURI(uint256 tokenId) public view override(ERC721A, IERC721A) returns (string memory) {
        if (!_exists(tokenId)) _revert(URIQueryForNonexistentToken.selector);
        uint256 seed = uint256(keccak256(abi.encode("paper cranes", tokenId)));
        string memory paper = _paperName[seed % 8];
        return DataUri.utf8Json(
            string.concat(
                '{"name":"Paper Crane #', _toString(tokenId), '","description":"Folded from ', paper,
                unicode' paper, one of a thousand 🕊️","image":"', DataUri.base64Svg(_draw(seed)),
                '","attributes":[{"trait_type":"Paper","value":"', paper,
                '"},{"trait_type":"Fold","value":"', _fold[(seed >> 8) % 5],
                '"},{"trait_type":"Creases","value":', _toString(18 + (seed >> 16) % 60),
                '},{"trait_type":"Signed","value":', (seed >> 24) % 5 == 0 ? "true" : "false", "}]}"
            )
        );
    }

    function _draw(uint256 seed) private view returns (string memory) {
        string memory colour = _paper[seed % 8];
        string memory wing = _toString(20 + (seed >> 32) % 50);
        return string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 240"><rect width="240" height="240" fill="#f7f3ea"/>',
            '<g fill="#', colour, '" stroke="#fff" stroke-linejoin="round"><path opacity=".7" d="M176 150l36-72-64 54z"/>',
            '<path opacity=".85" d="M60 150L20 92l15 6 62 28z"/><path d="M60 150l60-40 56 40-58 32z"/>',
            '<path opacity=".8" d="M96 142L', _toString(70 + (seed >> 40) % 60), " ", wing, 'l74 98z"/></g></svg>'
        );
    }
}
