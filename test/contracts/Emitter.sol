// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Writes whatever logs it is told to.
contract Emitter {
    struct Log {
        bytes32[] topics;
        bytes data;
    }

    function write(Log[] calldata logs) external {
        for (uint256 i = 0; i < logs.length; i++) {
            bytes32[] memory t = logs[i].topics;
            bytes memory data = logs[i].data;
            assembly {
                let at := add(data, 32)
                let size := mload(data)
                switch mload(t)
                case 0 { log0(at, size) }
                case 1 { log1(at, size, mload(add(t, 32))) }
                case 2 { log2(at, size, mload(add(t, 32)), mload(add(t, 64))) }
                case 3 { log3(at, size, mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96))) }
                default { log4(at, size, mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96)), mload(add(t, 128))) }
            }
        }
    }

    event TransferBatch(
        address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values
    );

    /// One unit of each of `count` ids to `to`, in one log.
    function writeBatch(address to, uint256 firstId, uint256 count) external {
        uint256[] memory ids = new uint256[](count);
        uint256[] memory values = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            ids[i] = firstId + i;
            values[i] = 1;
        }
        emit TransferBatch(msg.sender, address(0), to, ids, values);
    }
}
