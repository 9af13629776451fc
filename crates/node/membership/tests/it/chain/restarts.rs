//! The process is killed at any moment.

use std::process::{Command, Stdio};
use std::time::Duration;

use undertone_membership::evm::{Contract, EvmConfig, EvmRegistry, Health};

use crate::chain::rig::{CHAIN_ID, Rig, seen};

/// Set in the process that is killed: what it follows.
const CHILD: &str = "UNDERTONE_TEST_FOLLOW";

/// Not a test by itself: what the killed process does.
#[test]
fn child() {
    let Ok(what) = std::env::var(CHILD) else {
        return;
    };
    let [url, address, store] = what.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{what}");
    };
    let contract = Contract {
        chain_id: CHAIN_ID,
        address: address.parse().unwrap(),
    };
    let mut config = EvmConfig::new(contract, vec![url.to_owned()], store.into(), 50);
    config.range_blocks = (2, 2);
    let registry = EvmRegistry::start(config).unwrap();
    // Until killed.
    registry
        .chain()
        .wait_until(Duration::from_secs(600), |_| false);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn killed_at_every_stage() {
    let rig = Rig::start();
    (1..=60).for_each(|member| rig.register(member));
    let store = rig.store().display().to_string();
    let what = format!(
        "{} {} {store}",
        rig.chain.endpoint(),
        rig.deployment.membership
    );
    let mut blocks = Vec::new();
    for after_ms in [0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "chain::restarts::child", "--nocapture"])
            .env(CHILD, &what)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Any moment will do.
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut config = rig.config(&["http://127.0.0.1:1"]);
        config.range_blocks = (2, 2);
        let registry = EvmRegistry::start(config).unwrap();
        let status = registry
            .chain()
            .wait_until(Duration::from_secs(60), |status| {
                matches!(status.health, Health::Degraded { .. })
            });
        let Health::Degraded { block, .. } = status.health else {
            panic!("{status:?}");
        };
        blocks.push(block);
        // Whatever is there is whole: no root that was not compared, and the tree is the log's.
        let view = registry.view();
        let view = view.lock();
        assert!(
            view.roots()
                .newest()
                .is_none_or(|root| root == view.tree().root())
        );
    }
    assert!(blocks.is_sorted(), "what was stored stays: {blocks:?}");
    let registry = rig.follow();
    rig.check(&registry);
    assert_eq!(seen(&registry), rig.root());
}
