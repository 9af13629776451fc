// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";

import { IPriceCalculator } from "./IPriceCalculator.sol";

/// The zero address is no token.
error OnlyTokensAllowed();

/// @title A price in proportion to the rate limit.
contract LinearPriceCalculator is IPriceCalculator, Ownable {
    /// @notice The token in which deposits are made.
    address public token;

    /// @notice The price of one message per epoch, in the token's smallest unit.
    uint256 public pricePerMessagePerEpoch;

    constructor(address token_, uint256 pricePerMessagePerEpoch_) {
        _setTokenAndPrice(token_, pricePerMessagePerEpoch_);
    }

    /// @notice Changes token and price for memberships registered from now on.
    function setTokenAndPrice(address token_, uint256 pricePerMessagePerEpoch_) external onlyOwner {
        _setTokenAndPrice(token_, pricePerMessagePerEpoch_);
    }

    /// @inheritdoc IPriceCalculator
    function calculate(uint32 rateLimit) external view returns (address, uint256) {
        return (token, uint256(rateLimit) * pricePerMessagePerEpoch);
    }

    function _setTokenAndPrice(address token_, uint256 pricePerMessagePerEpoch_) private {
        if (token_ == address(0)) revert OnlyTokensAllowed();
        token = token_;
        pricePerMessagePerEpoch = pricePerMessagePerEpoch_;
    }
}
