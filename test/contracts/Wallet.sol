// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// A wallet of one owner, whose signatures are the wallet's (ERC-1271).
contract Wallet {
    address public owner = msg.sender;
    bool public isLocked;
    /// The only one that is told what it signed; zero: everybody is.
    address public asker;

    function execute(address to, bytes calldata data) external payable {
        require(msg.sender == owner, "not the owner");
        (bool success,) = to.call{value: msg.value}(data);
        require(success, "the call failed");
    }

    function lock(bool value) external {
        require(msg.sender == owner, "not the owner");
        isLocked = value;
    }

    function answerOnly(address to) external {
        require(msg.sender == owner, "not the owner");
        asker = to;
    }

    function hand(address to) external {
        require(msg.sender == owner, "not the owner");
        owner = to;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool isAsker = asker == address(0) || msg.sender == asker;
        bool isValid = !isLocked && isAsker && SignatureChecker.isValidSignatureNow(owner, hash, signature);
        return isValid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    receive() external payable {}
}
