// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An ERC-721 token of OpenZeppelin's that anybody may mint and burn, and that says when its metadata changes.
contract Deed is ERC721("Deed", "DEED") {
    event MetadataUpdate(uint256 _tokenId);
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);
    event ContractURIUpdated();

    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    function burn(uint256 tokenId) external {
        _burn(tokenId);
    }

    /// Never held by anybody after the transaction.
    function mintAndBurn(address to, uint256 tokenId) external {
        _mint(to, tokenId);
        _burn(tokenId);
    }

    function touch(uint256 tokenId) external {
        emit MetadataUpdate(tokenId);
    }

    function touchRange(uint256 first, uint256 last) external {
        emit BatchMetadataUpdate(first, last);
    }

    function touchContract() external {
        emit ContractURIUpdated();
    }
}
