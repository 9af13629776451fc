//! From nothing, and block by block.

use undertone_membership::evm::{ChainStatus, EvmRegistry, Health};
use undertone_membership::{MemberLookup, MembershipView, View, tree_of};
use undertone_rln::Fr;

use crate::chain::proxy::{Mode, Proxy};
use crate::chain::rig::{PATIENCE, Rig};

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn members_come_and_go() {
    let rig = Rig::start();
    (1..=12).for_each(|member| rig.register(member));
    let registry = rig.follow();
    rig.check(&registry);
    assert_eq!(registry.members().unwrap().len(), 12);
    let member = registry.find(Fr::from(5)).unwrap().unwrap();
    assert_eq!((member.index.get(), member.limit), (4, 20));

    rig.let_expire();
    rig.check(&registry);
    rig.erase(5, false);
    rig.check(&registry);
    assert_eq!(
        registry.find(Fr::from(5)).unwrap(),
        Some(member),
        "the leaf stays"
    );
    rig.erase(6, true);
    rig.check(&registry);
    assert_eq!(registry.find(Fr::from(6)).unwrap(), None);
    rig.register(100);
    rig.check(&registry);
    let again = registry.find(Fr::from(100)).unwrap().unwrap();
    assert_eq!(again.index.get(), 5, "the index erased last is used first");
    rig.register(101);
    rig.check(&registry);
    assert_eq!(registry.find(Fr::from(5)).unwrap(), None, "overwritten");
    assert_eq!(registry.members().unwrap().len(), 12);
}

/// Chain, newest block, the contract's first block, newest block again, events, root.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn the_first_sync_asks_nothing_twice() {
    let rig = Rig::start();
    (1..=5).for_each(|member| rig.register(member));
    let registry = rig.follow();
    let status = registry
        .chain()
        .wait_until(PATIENCE, ChainStatus::is_synced);
    assert_eq!((status.costs.requests, status.costs.failures), (6, 0));
    assert_eq!(status.health, Health::Synced { block: rig.block() });
}

/// Another follower of the same log arrives at the same tree.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn the_log_is_that_of_any_registry() {
    let rig = Rig::start();
    (1..=7).for_each(|member| rig.register(member));
    let registry = rig.follow();
    rig.check(&registry);
    let mut view = MembershipView::new(50);
    view.refresh(&registry).unwrap();
    assert_eq!(view.tree().root(), rig.root());
    assert_eq!(tree_of(&registry.members().unwrap()).root(), rig.root());
    let roots = |view: &MembershipView| view.roots().iter().copied().collect::<Vec<_>>();
    assert_eq!(roots(&view), roots(&registry.view().lock()));
}

/// Over a WebSocket a new block is known without asking for it.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn blocks_are_announced_over_a_web_socket() {
    let rig = Rig::start();
    let url = rig.chain.endpoint().replace("http://", "ws://");
    let mut config = rig.config(&[&url]);
    // Without announcements the test would take hours.
    config.poll = std::time::Duration::from_secs(3600);
    let registry = EvmRegistry::start(config).unwrap();
    rig.check(&registry);
    for member in 1..=3 {
        rig.register(member);
        rig.check(&registry);
    }
}

/// All events are in, but the contract's root was not the tree's: nobody proves by such a tree.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn there_is_no_path_before_the_tree_was_compared() {
    let rig = Rig::start();
    (1..=5).for_each(|member| rig.register(member));
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::WrongRoot);
    let mut config = rig.config(&[&proxy.url]);
    config.range_blocks = (2, 2);
    // Or it asks the contract, which lies.
    config.first_block = Some(2);
    let registry = EvmRegistry::start(config).unwrap();
    let degraded = |status: &ChainStatus| matches!(status.health, Health::Degraded { .. });
    let status = registry.chain().wait_until(PATIENCE, degraded);
    assert!(degraded(&status), "{status:?}");
    let member = registry.find(Fr::from(2)).unwrap().unwrap();
    let view = registry.view();
    let path = || View::path(&*view.lock(), member.index);
    assert_eq!(path(), None);
    proxy.set(Mode::Honest);
    rig.check(&registry);
    assert_eq!(path().unwrap().root_of(member.leaf()), rig.root());
}
