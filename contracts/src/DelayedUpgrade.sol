// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { OwnableUpgradeable } from "@openzeppelin/contracts-upgradeable/access/OwnableUpgradeable.sol";
import { UUPSUpgradeable } from "@openzeppelin/contracts-upgradeable/proxy/utils/UUPSUpgradeable.sol";

import { InvalidTerms, NoCode, UpgradeNotAnnounced, UpgradeTooEarly, UpgradeTooLate } from "./Errors.sol";

/// @title Upgrades by the owner, announced long before.
/// @notice Whoever does not want the new code has the delay for leaving. After `renounceOwnership`
/// there are no upgrades any more.
abstract contract DelayedUpgrade is OwnableUpgradeable, UUPSUpgradeable {
    /// @notice The least delay that this code may be deployed with, in seconds.
    uint32 public constant MIN_UPGRADE_DELAY = 7 days;

    /// @notice The greatest one.
    uint32 public constant MAX_UPGRADE_DELAY = 400 days;

    /// @notice Seconds for which an announced upgrade can be made after the delay. Without an end, an
    /// owner could announce one upgrade once, and from then on make it without warning.
    uint32 public constant UPGRADE_WINDOW = 14 days;

    /// @notice Seconds between an announcement and the upgrade. Part of the code: only an announced
    /// upgrade changes it.
    uint32 public immutable UPGRADE_DELAY;

    /// @notice The code that the owner has announced; 0 when there is none.
    address public announcedImplementation;

    /// @notice When the upgrade can be made at the earliest, in seconds since 1970.
    uint64 public upgradeNotBefore;

    /// @notice The hash of the announced code, as it was then.
    bytes32 public announcedCodeHash;

    uint256[50] private __gap;

    /// @notice The owner wants this code; `upgradeTo` works between the two moments.
    event UpgradeAnnounced(address implementation, bytes32 codeHash, uint256 notBefore, uint256 notAfter);

    /// @notice The announced upgrade is not going to be.
    event UpgradeCancelled(address implementation);

    constructor(uint32 upgradeDelay) {
        if (upgradeDelay < MIN_UPGRADE_DELAY || upgradeDelay > MAX_UPGRADE_DELAY) revert InvalidTerms();
        UPGRADE_DELAY = upgradeDelay;
    }

    /// @notice Announces an upgrade in place of any other that was announced. The code has to be
    /// there already, so that everybody can read it.
    function announceUpgrade(address implementation) external onlyOwner {
        if (implementation.code.length == 0) revert NoCode(implementation);
        announcedImplementation = implementation;
        announcedCodeHash = implementation.codehash;
        uint256 notBefore = block.timestamp + UPGRADE_DELAY;
        upgradeNotBefore = uint64(notBefore);
        emit UpgradeAnnounced(implementation, announcedCodeHash, notBefore, notBefore + UPGRADE_WINDOW);
    }

    /// @notice Takes an announcement back.
    function cancelUpgrade() external onlyOwner {
        emit UpgradeCancelled(announcedImplementation);
        _forgetUpgrade();
    }

    /// @dev An announcement is good for one upgrade.
    function _authorizeUpgrade(address implementation) internal override onlyOwner {
        if (implementation != announcedImplementation || implementation.codehash != announcedCodeHash) {
            revert UpgradeNotAnnounced(implementation);
        }
        uint256 notBefore = upgradeNotBefore;
        if (block.timestamp < notBefore) revert UpgradeTooEarly(notBefore);
        uint256 notAfter = notBefore + UPGRADE_WINDOW;
        if (block.timestamp > notAfter) revert UpgradeTooLate(notAfter);
        _forgetUpgrade();
    }

    function _forgetUpgrade() private {
        delete announcedImplementation;
        delete announcedCodeHash;
        delete upgradeNotBefore;
    }
}
