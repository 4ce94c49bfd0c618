// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";

/// @dev The forms in which contracts put documents into a URI. Each demo contract uses another one.
library DataUri {
    bytes16 private constant HEX = "0123456789ABCDEF";

    function base64Json(string memory json) internal pure returns (string memory) {
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }

    function utf8Json(string memory json) internal pure returns (string memory) {
        return string.concat("data:application/json;utf8,", json);
    }

    function percentEncodedJson(string memory json) internal pure returns (string memory) {
        return string.concat("data:application/json,", percentEncode(json));
    }

    function base64Svg(string memory svg) internal pure returns (string memory) {
        return string.concat("data:image/svg+xml;base64,", Base64.encode(bytes(svg)));
    }

    /// @dev Everything but letters, digits and `-._~` becomes %XX.
    function percentEncode(string memory text) internal pure returns (string memory) {
        bytes memory from = bytes(text);
        bytes memory to = new bytes(from.length * 3);
        uint256 length;
        for (uint256 i; i < from.length; ++i) {
            uint8 c = uint8(from[i]);
            bool isPlain = (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a)
                || c == 0x2d || c == 0x2e || c == 0x5f || c == 0x7e;
            if (isPlain) {
                to[length++] = from[i];
            } else {
                to[length++] = "%";
                to[length++] = HEX[c >> 4];
                to[length++] = HEX[c & 15];
            }
        }
        assembly ("memory-safe") {
            mstore(to, length)
        }
        return string(to);
    }
}
