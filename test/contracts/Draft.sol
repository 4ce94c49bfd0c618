// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// A token as the libraries of early 2018 made it: all but the id is indexed in its Transfer, which so is an ERC-20 one.
contract Draft {
    event Transfer(address indexed from, address indexed to, uint256 tokenId);

    mapping(uint256 => address) public ownerOf;

    function mint(address to, uint256 tokenId) external {
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
