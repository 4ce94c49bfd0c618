// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// A zone of Seaport that agrees to what it is asked, or to nothing, and logs neither.
contract Warden {
    bool private isRefusing;

    function refuse(bool value) external {
        isRefusing = value;
    }

    /// As the zone itself, which isn't asked then.
    function execute(address to, bytes calldata data) external payable {
        (bool success,) = to.call{value: msg.value}(data);
        require(success, "the call failed");
    }

    /// Seaport takes the selector of its question for a yes.
    fallback(bytes calldata) external returns (bytes memory) {
        require(!isRefusing, "refused");
        return abi.encode(msg.sig);
    }
}
