// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {DataUri} from "./DataUri.sol";

/// @notice ERC-721 whose document changes with each report, announced as ERC-4906 wants it.
contract WeatherStations is ERC721, IERC4906 {
    using Strings for uint256;

    struct Report {
        uint64 time;
        uint32 count;
        int16 tenthsOfDegree;
        uint8 sky;
    }

    /// @dev ERC-7572.
    event ContractURIUpdated();

    uint256 public nextTokenId;
    uint8 public season;
    mapping(uint256 tokenId => Report) public reports;

    string[12] private _place = [
        "Gull Rock", "North Mole", "Old Ferry", "Saltern", "Widow's Head", "Customs House",
        "Nine Pines", "Quarry Bay", "Long Sand", "Chapel Hill", "Eel Marsh", "The Narrows"
    ];
    string[5] private _sky = ["Clear", "Hazy", "Overcast", "Rain", "Storm"];
    string[5] private _colour = ["8ecae6", "cad2c5", "8d99ae", "457b9d", "2b2d42"];
    string[4] private _season = ["Spring", "Summer", "Autumn", "Winter"];

    constructor() ERC721("Weather Stations", "WX") {}

    function open(address to) external {
        _mint(to, nextTokenId++);
    }

    function report(uint256 tokenId, int16 tenthsOfDegree, uint8 sky) external {
        _requireOwned(tokenId);
        reports[tokenId] = Report(uint64(block.timestamp), reports[tokenId].count + 1, tenthsOfDegree, sky % 5);
        emit MetadataUpdate(tokenId);
    }

    /// @notice Changes the document of every station at once, and the contract's own.
    function turnSeason() external {
        season = (season + 1) % 4;
        emit BatchMetadataUpdate(0, type(uint256).max);
        emit ContractURIUpdated();
    }

    function supportsInterface(bytes4 interfaceId) public view override(ERC721, IERC165) returns (bool) {
        return interfaceId == bytes4(0x49064906) || super.supportsInterface(interfaceId);
    }

    function contractURI() external view returns (string memory) {
        return DataUri.utf8Json(
            string.concat(
                '{"name":"Weather Stations","description":"Twelve places along one coast and what their instruments say. It is ',
                _season[season], '.","image":"', DataUri.base64Svg(_draw("The Coast", 0, season)), '"}'
            )
        );
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        Report memory last = reports[tokenId];
        return DataUri.base64Json(
            string.concat(
                '{"name":"', _name(tokenId), '","description":"', _sky[last.sky], " at ", _name(tokenId), ", ",
                _degrees(last.tenthsOfDegree), ' degrees.","image":"',
                DataUri.base64Svg(_draw(_name(tokenId), last.tenthsOfDegree, last.sky)),
                '","attributes":', _attributes(last), "}"
            )
        );
    }

    function _attributes(Report memory last) private view returns (string memory) {
        return string.concat(
            '[{"trait_type":"Sky","value":"', _sky[last.sky],
            '"},{"trait_type":"Season","value":"', _season[season],
            '"},{"display_type":"number","trait_type":"Temperature","value":', _degrees(last.tenthsOfDegree),
            '},{"display_type":"number","trait_type":"Reports","value":', uint256(last.count).toString(),
            '},{"display_type":"date","trait_type":"Last report","value":', uint256(last.time).toString(), "}]"
        );
    }

    function _draw(string memory name, int16 tenthsOfDegree, uint8 sky) private view returns (string memory) {
        uint256 height = uint256(int256(tenthsOfDegree) + 300) / 5;
        return string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><rect width="200" height="200" fill="#',
            _colour[sky], '"/><rect x="92" y="20" width="16" height="140" rx="8" fill="#fff"/><rect x="96" y="',
            (156 - height).toString(), '" width="8" height="', height.toString(),
            '" fill="#e63946"/><circle cx="100" cy="160" r="14" fill="#e63946"/>',
            '<text x="100" y="192" font-family="sans-serif" font-size="13" text-anchor="middle" fill="#fff">', name,
            "</text></svg>"
        );
    }

    function _name(uint256 tokenId) private view returns (string memory) {
        string memory place = _place[tokenId % 12];
        return tokenId < 12 ? place : string.concat(place, " ", (tokenId / 12 + 1).toString());
    }

    function _degrees(int16 tenths) private pure returns (string memory) {
        uint256 size = uint256(int256(tenths < 0 ? -tenths : tenths));
        return string.concat(tenths < 0 ? "-" : "", (size / 10).toString(), ".", (size % 10).toString());
    }
}
