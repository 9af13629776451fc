//! Upgrades: whose they are, and how long before they are announced.

use alloy::primitives::{Address, U256};
use alloy::sol_types::{SolCall, SolEvent};
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{ChainError, ContractTerms, Mined, Refusal};

use crate::world::{UPGRADE_DELAY_S, World, refusal, terms};

/// Seconds in which an announced upgrade can be made.
const WINDOW_S: u32 = 14 * 24 * 60 * 60;

async fn send(world: &World, account: usize, input: Vec<u8>) -> Result<Mined, ChainError> {
    let contract = world.contract.address();
    world.account(account).call(contract, input).await
}

async fn announce(world: &World, account: usize, to: Address) -> Result<Mined, ChainError> {
    let call = RlnMembership::announceUpgradeCall { implementation: to };
    send(world, account, call.abi_encode()).await
}

async fn upgrade(world: &World, account: usize, to: Address) -> Result<Mined, ChainError> {
    let call = RlnMembership::upgradeToCall {
        newImplementation: to,
    };
    send(world, account, call.abi_encode()).await
}

/// The code of another deployment, with another share.
async fn other_code(world: &World) -> Address {
    let terms = ContractTerms {
        slash_burn_bps: 7_000,
        ..terms()
    };
    let other = undertone_contracts::deploy(world.account(0), &terms).await;
    other.unwrap().implementation
}

#[tokio::test]
async fn an_announced_upgrade_is_made_after_the_delay_and_keeps_the_members() {
    let world = World::new().await;
    world.join(1).await;
    let root = world.root().await;
    let code = other_code(&world).await;
    assert_eq!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeNotAnnounced(code)
    );
    assert_eq!(
        refusal(announce(&world, 1, code).await),
        Refusal::NotTheOwner
    );
    let announced = announce(&world, 0, code).await.unwrap();
    let event = RlnMembership::UpgradeAnnounced::decode_log(&announced.logs[0].inner).unwrap();
    let (now_s, _) = world.now().await;
    let not_before = U256::from(now_s + u64::from(UPGRADE_DELAY_S));
    assert_eq!(event.notBefore, not_before);
    assert_eq!(event.notAfter, not_before + U256::from(WINDOW_S));
    assert_eq!(event.implementation, code);

    world.advance(UPGRADE_DELAY_S - 100).await;
    let early = refusal(upgrade(&world, 0, code).await);
    assert_eq!(early, Refusal::UpgradeTooEarly(not_before));
    world.advance(100).await;
    assert_eq!(
        refusal(upgrade(&world, 1, code).await),
        Refusal::NotTheOwner
    );
    upgrade(&world, 0, code).await.unwrap();
    assert!(world.is_member(1).await);
    assert_eq!(world.root().await, root);
    let share = world.read(RlnMembership::SLASH_BURN_BPSCall {}).await;
    assert_eq!(share, 7_000, "it is the new code");

    // One announcement, one upgrade.
    assert_eq!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeNotAnnounced(code)
    );
}

#[tokio::test]
async fn an_announcement_ends_and_can_be_taken_back() {
    let world = World::new().await;
    let code = other_code(&world).await;
    announce(&world, 0, code).await.unwrap();
    world.advance(UPGRADE_DELAY_S + WINDOW_S + 10).await;
    assert!(matches!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeTooLate(_)
    ));

    announce(&world, 0, code).await.unwrap();
    let cancel = RlnMembership::cancelUpgradeCall {}.abi_encode();
    let stranger = send(&world, 1, cancel.clone()).await;
    assert_eq!(refusal(stranger), Refusal::NotTheOwner);
    send(&world, 0, cancel).await.unwrap();
    world.advance(UPGRADE_DELAY_S).await;
    assert_eq!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeNotAnnounced(code)
    );

    // Another announcement takes the place of the first, and the delay begins anew.
    announce(&world, 0, code).await.unwrap();
    world.advance(UPGRADE_DELAY_S).await;
    announce(&world, 0, code).await.unwrap();
    assert!(matches!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeTooEarly(_)
    ));
}

#[tokio::test]
async fn only_code_that_is_there_and_stays_as_it_is_can_be_announced() {
    let world = World::new().await;
    let nowhere = Address::repeat_byte(0x77);
    assert_eq!(
        refusal(announce(&world, 0, nowhere).await),
        Refusal::NoCode(nowhere)
    );
    let code = other_code(&world).await;
    announce(&world, 0, code).await.unwrap();
    world.advance(UPGRADE_DELAY_S).await;
    // As a contract could that destroys itself and is made again at the same address.
    let swapped = world.chain.request("anvil_setCode", (code, "0x6001"));
    let () = swapped.await.unwrap();
    assert_eq!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::UpgradeNotAnnounced(code)
    );
}

#[tokio::test]
async fn without_an_owner_there_are_no_upgrades() {
    let world = World::new().await;
    let code = other_code(&world).await;
    announce(&world, 0, code).await.unwrap();
    let renounce = RlnMembership::renounceOwnershipCall {}.abi_encode();
    send(&world, 0, renounce).await.unwrap();
    world.advance(UPGRADE_DELAY_S).await;
    assert_eq!(
        refusal(upgrade(&world, 0, code).await),
        Refusal::NotTheOwner
    );
    assert_eq!(
        refusal(announce(&world, 0, code).await),
        Refusal::NotTheOwner
    );
}

#[tokio::test]
async fn the_delay_has_bounds() {
    const DAY_S: u32 = 24 * 60 * 60;
    let world = World::new().await;
    for upgrade_delay_s in [7 * DAY_S - 1, 400 * DAY_S + 1] {
        let terms = ContractTerms {
            upgrade_delay_s,
            ..terms()
        };
        let deployed = undertone_contracts::deploy(world.account(0), &terms).await;
        assert_eq!(refusal(deployed), Refusal::InvalidTerms);
    }
}
