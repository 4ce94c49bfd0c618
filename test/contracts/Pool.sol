// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

struct SpentItem {
    uint8 itemType;
    address token;
    uint256 identifier;
    uint256 amount;
}

struct ReceivedItem {
    uint8 itemType;
    address token;
    uint256 identifier;
    uint256 amount;
    address payable recipient;
}

/// A contract that makes its own orders for Seaport: whatever those who fill them tell it.
contract Pool {
    function execute(address to, bytes calldata data) external {
        (bool success,) = to.call(data);
        require(success, "the call failed");
    }

    function generateOrder(address, SpentItem[] calldata, SpentItem[] calldata, bytes calldata context)
        external
        returns (SpentItem[] memory offer, ReceivedItem[] memory consideration)
    {
        (offer, consideration) = abi.decode(context, (SpentItem[], ReceivedItem[]));
        // Of its own currency the exchange is to be given what it passes on.
        if (offer[0].itemType != 0) return (offer, consideration);
        (bool success,) = msg.sender.call{value: offer[0].amount}("");
        require(success, "the exchange takes no money");
    }

    function ratifyOrder(SpentItem[] calldata, ReceivedItem[] calldata, bytes calldata, bytes32[] calldata, uint256)
        external
        pure
        returns (bytes4)
    {
        return this.ratifyOrder.selector;
    }

    receive() external payable {}
}
