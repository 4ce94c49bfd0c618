// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {PunkMarket} from "./PunkMarket.sol";

/// The first of the two deployments: the offer is overwritten before PunkBought reads its seller, so that the log has
/// the buyer in both places.
contract FirstPunkMarket is PunkMarket {
    function buy(uint256 punkIndex) external payable override {
        Offer storage sold = offers[punkIndex];
        require(sold.isForSale && sold.seller == punkIndexToAddress[punkIndex]);
        punkIndexToAddress[punkIndex] = msg.sender;
        emit Transfer(sold.seller, msg.sender, 1);
        withdraw(punkIndex);
        emit PunkBought(punkIndex, msg.value, sold.seller, msg.sender);
    }
}
