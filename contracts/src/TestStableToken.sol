// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token without value for development chains; its owner mints it.
contract TestStableToken is ERC20, Ownable {
    constructor() ERC20("TestStableToken", "TST") { }

    /// @notice Makes `amount` new tokens (in units of 10^-18) and gives them to `to`.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }
}
