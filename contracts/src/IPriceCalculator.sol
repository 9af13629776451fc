// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

/// @title What a membership costs.
interface IPriceCalculator {
    /// @param rateLimit Messages per epoch.
    /// @return token The ERC-20 token in which the deposit is made.
    /// @return price The deposit in the token's smallest unit.
    function calculate(uint32 rateLimit) external view returns (address token, uint256 price);
}
