// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

// Compiled with the rest; deployed in front of RlnMembership.
import { ERC1967Proxy } from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
