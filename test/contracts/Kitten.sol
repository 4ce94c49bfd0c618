// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// A token from before ERC-721 was final: nothing in its Transfer is indexed.
contract Kitten {
    event Transfer(address from, address to, uint256 tokenId);

    mapping(uint256 => address) public ownerOf;

    function birth(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == address(0));
        ownerOf[tokenId] = to;
        emit Transfer(address(0), to, tokenId);
    }

    function transfer(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == msg.sender);
        ownerOf[tokenId] = to;
        emit Transfer(msg.sender, to, tokenId);
    }
}
