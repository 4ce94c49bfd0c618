// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC1155Supply} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Supply.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {DataUri} from "./DataUri.sol";

/// @notice ERC-1155 with a document of its own per id, made by the contract; a restock changes it and says so with URI.
contract HarborProvisions is ERC1155, ERC1155Burnable, ERC1155Supply {
    using Strings for uint256;

    string public constant name = "Harbor Provisions";
    string public constant symbol = "HARBOR";
    uint256 public constant KINDS = 8;

    mapping(uint256 id => uint256) public restocks;

    string[8] private _item = [
        "Dried Kelp", "Sea Salt", "Lamp Oil", "Coil of Rope", "Ship's Biscuit", "Brass Compass", "Pine Tar", "Signal Flag"
    ];
    string[8] private _class =
        ["Food", "Food", "Fuel", "Rigging", "Food", "Instrument", "Rigging", "Instrument"];
    string[8] private _colour = ["386641", "adb5bd", "e9c46a", "bc8a5f", "ddb892", "b08968", "3d2c2e", "d62828"];

    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }

    function restock(address to, uint256 id, uint256 amount) external {
        ++restocks[id];
        _mint(to, id, amount, "");
        emit URI(uri(id), id);
    }

    function contractURI() external view returns (string memory) {
        return DataUri.percentEncodedJson(
            string.concat(
                '{"name":"Harbor Provisions","description":"Everything that a ship takes on before it leaves.","image":"',
                DataUri.base64Svg(_draw(5)), '"}'
            )
        );
    }

    function uri(uint256 id) public view override returns (string memory) {
        return DataUri.base64Json(
            string.concat(
                '{"name":"', _item[id % KINDS], '","decimals":0,"description":"', _item[id % KINDS],
                " from the harbor stores. Restocked ", restocks[id].toString(),
                ' times.","image":"', DataUri.base64Svg(_draw(id % KINDS)),
                '","properties":{"class":"', _class[id % KINDS],
                '","weight":{"name":"Weight","value":', (1 + (id * 7) % 30).toString(),
                ',"display_value":"', (1 + (id * 7) % 30).toString(), ' stone","description":"per unit"},"restocks":',
                restocks[id].toString(), ',"keeps":', id % 3 == 0 ? "true" : "false", "}}"
            )
        );
    }

    function _draw(uint256 kind) private view returns (string memory) {
        return string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><rect width="200" height="200" fill="#f1faee"/>',
            '<g stroke="#5e3b1c" stroke-width="4"><rect x="30" y="60" width="140" height="100" fill="#c69c6d"/>',
            '<path d="M30 93h140M30 126h140"/></g><rect x="52" y="84" width="96" height="52" fill="#', _colour[kind],
            '"/><text x="100" y="115" font-family="serif" font-size="13" text-anchor="middle" fill="#fff">', _item[kind],
            "</text></svg>"
        );
    }

    function _update(address from, address to, uint256[] memory ids, uint256[] memory values)
        internal
        override(ERC1155, ERC1155Supply)
    {
        super._update(from, to, ids, values);
    }
}
