// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {DataUri} from "./DataUri.sol";

/// @notice ERC-721 whose document and picture are drawn by the contract: base64 JSON around a base64 SVG.
contract TidalGlyphs is ERC721, ERC721Burnable {
    using Strings for uint256;

    uint256 public nextTokenId = 1;

    string[6] private _deep = ["0b132b", "10002b", "012a4a", "1b1b2f", "081c15", "2b0f1c"];
    string[6] private _water = ["3a86ff", "9d4edd", "2a9d8f", "e07a5f", "52b788", "ff758f"];
    string[6] private _moon = ["fefae0", "ffe8d6", "caf0f8", "f4f1de", "d8f3dc", "ffe5ec"];
    string[6] private _shore = ["Basalt", "Amethyst", "Lagoon", "Terracotta", "Kelp Forest", "Coral"];
    string[4] private _phase = ["New", "Waxing", "Full", "Waning"];
    string[4] private _tide = ["Ebb", "Slack", "Flood", "Spring"];

    constructor() ERC721("Tidal Glyphs", "GLYPH") {}

    function mint(address to) external returns (uint256 tokenId) {
        tokenId = nextTokenId++;
        _mint(to, tokenId);
    }

    /// @notice Mints a glyph that the next wave takes away again, in one transaction.
    function glimpse(address to) external {
        uint256 tokenId = nextTokenId++;
        _mint(to, tokenId);
        _burn(tokenId);
    }

    function contractURI() external view returns (string memory) {
        return DataUri.base64Json(
            string.concat(
                '{"name":"Tidal Glyphs","description":"Waves, drawn by a contract. Each glyph is one evening at the shore.",',
                '"image":"', DataUri.base64Svg(_draw(1)), '"}'
            )
        );
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        uint256 seed = _seed(tokenId);
        return DataUri.base64Json(
            string.concat(
                '{"name":"Tidal Glyph #', tokenId.toString(),
                '","description":"An evening at the ', _shore[seed % 6],
                ' shore, ', _phase[(seed >> 8) % 4], ' moon.","background_color":"', _deep[seed % 6],
                '","image":"', DataUri.base64Svg(_draw(tokenId)),
                '","attributes":', _attributes(seed), "}"
            )
        );
    }

    function _attributes(uint256 seed) private view returns (string memory) {
        return string.concat(
            '[{"trait_type":"Shore","value":"', _shore[seed % 6],
            '"},{"trait_type":"Moon","value":"', _phase[(seed >> 8) % 4],
            '"},{"trait_type":"Tide","value":"', _tide[(seed >> 16) % 4],
            '"},{"display_type":"number","trait_type":"Swell","value":', (1 + (seed >> 24) % 12).toString(),
            '},{"display_type":"boost_percentage","trait_type":"Calm","value":', ((seed >> 32) % 101).toString(), "}]"
        );
    }

    function _draw(uint256 tokenId) private view returns (string memory svg) {
        uint256 seed = _seed(tokenId);
        svg = string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 320"><rect width="320" height="320" fill="#',
            _deep[seed % 6], '"/><circle cx="', (60 + (seed >> 40) % 200).toString(),
            '" cy="', (50 + (seed >> 48) % 50).toString(), '" r="', (14 + ((seed >> 8) % 4) * 7).toString(),
            '" fill="#', _moon[seed % 6], '"/>'
        );
        for (uint256 i; i < 6; ++i) {
            svg = string.concat(svg, _wave(seed >> (56 + i * 16), i, _water[seed % 6]));
        }
        svg = string.concat(svg, "</svg>");
    }

    function _wave(uint256 seed, uint256 row, string memory colour) private pure returns (string memory) {
        return string.concat(
            '<path d="M-', (40 + seed % 40).toString(), " ", (140 + row * 30).toString(),
            "q20-", (6 + (seed >> 8) % 22).toString(),
            ' 40 0t40 0 40 0 40 0 40 0 40 0 40 0 40 0 40 0 40 0V330H-80z" fill="#', colour,
            '" opacity=".', (25 + row * 7).toString(), '"/>'
        );
    }

    function _seed(uint256 tokenId) private pure returns (uint256) {
        return uint256(keccak256(abi.encode("tidal glyphs", tokenId)));
    }
}
