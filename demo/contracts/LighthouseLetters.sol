// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {DataUri} from "./DataUri.sol";

/// @notice ERC-721 with ids that the minter chooses, up to 2^256-1, and a percent-encoded JSON document.
contract LighthouseLetters is ERC721, ERC721Burnable {
    using Strings for uint256;

    string[6] private _paper = ["faf3dd", "fff1e6", "e9edc9", "edf2f4", "f8edeb", "eae4e9"];
    string[6] private _ink = ["1d3557", "582f0e", "344e41", "6d023c", "22223b", "003049"];
    string[6] private _hand = ["Copperplate", "Hurried", "Block", "Italic", "Trembling", "Schoolbook"];
    string[8] private _line = [
        "The fog came in before supper and stayed for a week.",
        "Nobody has passed the strait since the new moon.",
        "I counted eleven sails and wrote down every name.",
        "The lamp wants oil, the cat wants company.",
        "Tell the harbour master that the bell is cracked.",
        "Today the sea was so flat that I saw two suns.",
        "A crane landed on the rail and would not leave.",
        "If you read this, light a candle in the north window."
    ];

    constructor() ERC721("Letters to the Lighthouse", "LETTER") {}

    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        uint256 seed = uint256(keccak256(abi.encode("lighthouse", tokenId)));
        return DataUri.percentEncodedJson(
            string.concat(
                '{"name":"', _title(tokenId), '","description":"', _line[seed % 8], unicode' — found in a bottle.",',
                '"external_url":"https://example.com/letters/', tokenId.toString(),
                '","image":"data:image/svg+xml;utf8,', _draw(seed),
                '","attributes":[{"trait_type":"Hand","value":"', _hand[(seed >> 8) % 6],
                '"},{"trait_type":"Ink","value":"', unicode"№ ", ((seed >> 16) % 6 + 1).toString(),
                '"},{"display_type":"date","trait_type":"Posted","value":', (1_577_836_800 + (seed >> 24) % 157_680_000).toString(),
                '},{"value":"', seed & 7 == 0 ? "Water-stained" : "Dry", '"}]}'
            )
        );
    }

    function _title(uint256 tokenId) private pure returns (string memory) {
        if (tokenId < 1_000_000) return string.concat("Letter ", tokenId.toString());
        return string.concat("Letter ", tokenId.toHexString(32));
    }

    /// @dev Single quotes, so that it stands in a JSON text as it is; `%23` is the `#` of a colour inside a data URI.
    function _draw(uint256 seed) private view returns (string memory svg) {
        svg = string.concat(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 300 300'><rect width='300' height='300' fill='%23",
            _paper[(seed >> 32) % 6], "'/>"
        );
        for (uint256 i; i < 9; ++i) {
            svg = string.concat(
                svg, "<rect x='36' y='", (48 + i * 24).toString(), "' width='", (90 + (seed >> (40 + i * 8)) % 138).toString(),
                "' height='5' rx='2' fill='%23", _ink[(seed >> 16) % 6], "'/>"
            );
        }
        svg = string.concat(svg, "</svg>");
    }
}
