//! The table of endpoint faults in docs/use/membership.md, row by row.

use undertone_membership::evm::{EvmRegistry, Health};

use crate::chain::proxy::{Mode, Proxy};
use crate::chain::rig::{PATIENCE, Rig, seen};

/// Faults after which nothing new is accepted, however often the endpoint repeats them.
const USELESS: [Mode; 10] = [
    Mode::Hang,
    Mode::ChainStatus(429),
    Mode::ChainStatus(500),
    Mode::Garbage,
    Mode::Endless,
    Mode::ForeignLogs,
    Mode::LogsBackwards,
    Mode::NoBlocks,
    Mode::WrongRoot,
    Mode::Old(3),
];

/// The only endpoint turns bad: the roots known before stay, nothing is added, and it says so. It
/// turns good again: all is well.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn alone() {
    let rig = Rig::start();
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.config(&[&proxy.url]);
    config.limits.timeout = std::time::Duration::from_millis(500);
    let registry = EvmRegistry::start(config).unwrap();
    (1..=3).for_each(|member| rig.register(member));
    for (member, mode) in (10..).zip(USELESS) {
        rig.check(&registry);
        let before = rig.root();
        proxy.set(mode.clone());
        if !matches!(mode, Mode::Old(_)) {
            rig.register(member);
        }
        let status = registry.chain().wait_until(PATIENCE, |status| {
            matches!(status.health, Health::Degraded { .. })
        });
        assert!(
            matches!(status.health, Health::Degraded { .. }),
            "{mode:?}: {status:?}"
        );
        let view = registry.view();
        assert_eq!(view.lock().roots().newest(), Some(before), "{mode:?}");
        assert_eq!(seen(&registry), before, "{mode:?}");
        proxy.set(Mode::Honest);
    }
    rig.check(&registry);
}

/// An endpoint is asked for its chain before anything else.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn another_chain() {
    let rig = Rig::start();
    rig.register(1);
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Chain(1));
    let registry = EvmRegistry::start(rig.config(&[&proxy.url])).unwrap();
    let status = registry.chain().wait_until(PATIENCE, |status| {
        matches!(status.health, Health::Degraded { .. })
    });
    let Health::Degraded { reason, .. } = status.health else {
        panic!("{status:?}");
    };
    assert!(reason.contains("is of chain 1, not 31337"), "{reason}");
    assert!(registry.view().lock().roots().is_empty());
    proxy.set(Mode::Honest);
    rig.check(&registry);
}

/// With a second endpoint nothing is lost.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn with_another() {
    let rig = Rig::start();
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.config(&[&proxy.url, rig.chain.endpoint()]);
    config.limits.timeout = std::time::Duration::from_millis(200);
    let registry = EvmRegistry::start(config).unwrap();
    let both = [Mode::NoLogs, Mode::HalfTheLogs, Mode::Chain(1)];
    for (member, mode) in (1..).zip(USELESS.into_iter().chain(both)) {
        rig.check(&registry);
        proxy.set(mode.clone());
        let asked = proxy.asked();
        rig.register(2 * member);
        rig.register(2 * member + 1);
        rig.check(&registry);
        let status = registry
            .chain()
            .wait_until(PATIENCE, |_| proxy.asked() > asked);
        assert!(proxy.asked() > asked, "{mode:?} was tried: {status:?}");
        proxy.set(Mode::Honest);
    }
}

/// An endpoint that leaves logs out is found out by the root; if it is the only one, the leaves are
/// read instead.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn logs_are_left_out() {
    for mode in [Mode::NoLogs, Mode::HalfTheLogs] {
        let rig = Rig::start();
        let proxy = Proxy::start(rig.chain.endpoint(), mode);
        (1..=5).for_each(|member| rig.register(member));
        let registry = EvmRegistry::start(rig.config(&[&proxy.url])).unwrap();
        rig.check(&registry);
    }
}

/// An endpoint that gives the logs of few blocks at a time is asked for fewer.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn short_ranges() {
    let rig = Rig::start();
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::ShortRanges(4));
    (1..=20).for_each(|member| rig.register(member));
    let registry = EvmRegistry::start(rig.config(&[&proxy.url])).unwrap();
    rig.check(&registry);
}
