// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// A token from before ERC-721 was final. What its Transfer indexes is for those that are one to say.
abstract contract EarlyToken {
    mapping(uint256 => address) public ownerOf;

    function mint(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == address(0));
        ownerOf[tokenId] = to;
        tell(address(0), to, tokenId);
    }

    function transfer(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == msg.sender);
        ownerOf[tokenId] = to;
        tell(msg.sender, to, tokenId);
    }

    function tell(address from, address to, uint256 tokenId) internal virtual;
}
