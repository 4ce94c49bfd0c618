// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// An ERC-1155 token of OpenZeppelin's that anybody may mint and burn.
contract Edition is ERC1155("") {
    function mint(address to, uint256 id, uint256 value) external {
        _mint(to, id, value, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        _mintBatch(to, ids, values, "");
    }

    function burn(address from, uint256 id, uint256 value) external {
        _burn(from, id, value);
    }

    function burnBatch(address from, uint256[] calldata ids, uint256[] calldata values) external {
        _burnBatch(from, ids, values);
    }

    function touch(uint256 id) external {
        emit URI("ipfs://changed", id);
    }
}
