//! A contract as older deployments are: no `getRecentRoots`, and no event for a new root or an emptied
//! leaf. The contract in use is one.

use std::time::{Duration, Instant};

use undertone_membership::View as _;
use undertone_membership::evm::{ChainStatus, Health, LightRegistry};
use undertone_rln::{Fr, Identity};

use crate::chain::light::roots;
use crate::chain::proxy::{Mode, Proxy};
use crate::chain::rig::{PATIENCE, Rig};

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn light_mode_has_roots_and_path() {
    let rig = Rig::older();
    let light = rig.light();
    rig.check_light(&light);
    (1..=9).for_each(|member| rig.register(member));
    let identity = Identity::from_seed(b"light");
    assert_eq!(rig.look_up(&light, &identity), None);
    rig.join(&identity.commitment());
    rig.check_light(&light);
    let member = rig.look_up(&light, &identity).unwrap();
    let path = || light.view().lock().path(member.index);
    for other in 20..24 {
        rig.register(other);
        rig.check_light(&light);
        assert_eq!(path().unwrap().root_of(member.leaf()), rig.root());
    }

    rig.let_expire();
    rig.erase(1, false);
    rig.erase(2, true);
    rig.check_light(&light);
    assert_eq!(path().unwrap().root_of(member.leaf()), rig.root());
    rig.slash(identity.secret());
    rig.check_light(&light);
    assert_eq!(path(), None);
    assert_eq!(rig.look_up(&light, &identity), None);
    let status = light.chain().status();
    assert_eq!(
        status.costs.failures, 0,
        "it was never degraded: {status:?}"
    );
}

/// As many as full mode would have, although none was looked at when it was the newest.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn roots_between_two_looks_of_light_mode_are_accepted() {
    let rig = Rig::older();
    let mut config = rig.light_config(&[rig.chain.endpoint()]);
    // It looks when it is asked to.
    config.poll = Duration::from_secs(3600);
    let light = LightRegistry::start(config).unwrap();
    rig.register(1);
    light.chain().request_refresh();
    rig.check_light(&light);
    let mut expected = roots(&light);
    for member in 2..=8 {
        rig.register(member);
        expected.push(rig.root());
        let blocks = rig.chain.mine(member % 3);
        rig.runtime.block_on(blocks).unwrap();
    }
    light.chain().request_refresh();
    rig.check_light(&light);
    assert_eq!(roots(&light), expected);

    // And without news one request says so, as with any other contract.
    let before = light.chain().status();
    light.chain().request_refresh();
    let status = light
        .chain()
        .wait_until(PATIENCE, |status| status.compared > before.compared);
    assert_eq!(status.costs.requests, before.costs.requests + 1);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn full_mode_has_the_tree() {
    let rig = Rig::older();
    (1..=6).for_each(|member| rig.register(member));
    let full = rig.follow();
    rig.check(&full);
    rig.let_expire();
    for step in 0..4 {
        rig.erase(1 + step, step % 2 == 0);
        rig.check(&full);
        rig.register(20 + step);
        rig.check(&full);
    }
    rig.erase_all(&[Fr::from(5), Fr::from(6)], true);
    let status = rig.check(&full);
    assert_eq!(status.costs.failures, 0, "{status:?}");
    let light = rig.light();
    rig.check_light(&light);
}

/// Something that is no membership contract: there is nothing to follow, and it is asked ever less
/// often, although the endpoint answers what it is asked about blocks.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_contract_with_neither_function_is_asked_ever_less_often() {
    let rig = Rig::start();
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.light_config(&[&proxy.url]);
    config.contract.address = rig.deployment.token;
    config.limits.backoff = Duration::from_millis(20);
    config.limits.max_backoff = Duration::from_secs(60);
    let begun = Instant::now();
    let light = LightRegistry::start(config).unwrap();
    let failed = |status: &ChainStatus| status.costs.failures >= 7;
    let status = light.chain().wait_until(PATIENCE, failed);
    assert!(failed(&status), "{status:?}");
    assert!(
        matches!(&status.health, Health::Degraded { reason, .. } if reason.contains("refused")),
        "{status:?}"
    );
    // 20 ms, then 40, 80, 160, 320 and 640.
    assert!(begun.elapsed() >= Duration::from_millis(1_260));
    assert!(roots(&light).is_empty());
}
