// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Says every movement twice, by two standards: ERC-721 first, so that is what its tokens are.
contract Hybrid {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );

    mapping(uint256 => address) internal owners;

    function ownerOf(uint256 tokenId) external view returns (address) {
        return owners[tokenId];
    }

    function move(address to, uint256 tokenId) external {
        emit Transfer(owners[tokenId], to, tokenId);
        emit TransferSingle(msg.sender, owners[tokenId], to, tokenId, 1);
        owners[tokenId] = to;
    }
}
