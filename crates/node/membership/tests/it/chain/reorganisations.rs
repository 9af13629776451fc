//! Blocks that are replaced, with members in them.

use crate::chain::rig::{PATIENCE, Rig};

fn reorganise(depth: u64) {
    let rig = Rig::start();
    (1..=30).for_each(|member| rig.register(member));
    rig.let_expire();
    let registry = rig.follow();
    rig.check(&registry);
    let mut seen = Vec::new();
    for step in 0..depth {
        match step % 3 {
            0 => rig.erase(step + 1, step % 2 == 0),
            _ => rig.register(1_000 + step),
        }
        rig.check(&registry);
        seen.push(rig.root());
    }
    rig.runtime.block_on(rig.chain.reorganise(depth)).unwrap();
    // The tree is rolled back a moment before the status says so.
    let chain = registry.chain();
    chain.wait_until(PATIENCE, |status| status.reorganisations > 0);
    assert_eq!(rig.check(&registry).reorganisations, 1);
    // Publishers that have not heard of it are understood.
    let view = registry.view();
    assert!(seen.iter().all(|root| view.lock().roots().contains(root)));
    rig.register(2_000);
    rig.check(&registry);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn reorg_of_1_block() {
    reorganise(1);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn reorg_of_5_blocks() {
    reorganise(5);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn reorg_of_20_blocks() {
    reorganise(20);
}
