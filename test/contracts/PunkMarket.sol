// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Writes the logs that the CryptoPunks market of 2017 writes, in its order and with its faults: an accepted bid is
/// erased before PunkBought reads it, so that the log names neither receiver nor price.
contract PunkMarket {
    struct Offer {
        bool isForSale;
        address seller;
        uint256 minValue;
    }

    struct Bid {
        address bidder;
        uint256 value;
    }

    event Assign(address indexed to, uint256 punkIndex);
    event Transfer(address indexed from, address indexed to, uint256 value);
    event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex);
    event PunkOffered(uint256 indexed punkIndex, uint256 minValue, address indexed toAddress);
    event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress);
    event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress);
    event PunkNoLongerForSale(uint256 indexed punkIndex);

    mapping(uint256 => address) public punkIndexToAddress;
    mapping(uint256 => Offer) internal offers;
    mapping(uint256 => Bid) internal bids;

    function assign(address to, uint256 punkIndex) external {
        punkIndexToAddress[punkIndex] = to;
        emit Assign(to, punkIndex);
    }

    function transferPunk(address to, uint256 punkIndex) external {
        require(punkIndexToAddress[punkIndex] == msg.sender);
        if (offers[punkIndex].isForSale) withdraw(punkIndex);
        punkIndexToAddress[punkIndex] = to;
        emit Transfer(msg.sender, to, 1);
        emit PunkTransfer(msg.sender, to, punkIndex);
    }

    function offer(uint256 punkIndex, uint256 minValue) external {
        require(punkIndexToAddress[punkIndex] == msg.sender);
        offers[punkIndex] = Offer(true, msg.sender, minValue);
        emit PunkOffered(punkIndex, minValue, address(0));
    }

    function buy(uint256 punkIndex) external payable virtual {
        address seller = offers[punkIndex].seller;
        require(offers[punkIndex].isForSale && seller == punkIndexToAddress[punkIndex]);
        punkIndexToAddress[punkIndex] = msg.sender;
        emit Transfer(seller, msg.sender, 1);
        withdraw(punkIndex);
        emit PunkBought(punkIndex, msg.value, seller, msg.sender);
    }

    function enterBid(uint256 punkIndex) external payable {
        bids[punkIndex] = Bid(msg.sender, msg.value);
        emit PunkBidEntered(punkIndex, msg.value, msg.sender);
    }

    function acceptBid(uint256 punkIndex) external {
        require(punkIndexToAddress[punkIndex] == msg.sender);
        Bid storage bid = bids[punkIndex];
        punkIndexToAddress[punkIndex] = bid.bidder;
        emit Transfer(msg.sender, bid.bidder, 1);
        offers[punkIndex] = Offer(false, bid.bidder, 0);
        delete bids[punkIndex];
        emit PunkBought(punkIndex, bid.value, msg.sender, bid.bidder);
    }

    function withdraw(uint256 punkIndex) internal {
        offers[punkIndex] = Offer(false, msg.sender, 0);
        emit PunkNoLongerForSale(punkIndex);
    }
}
