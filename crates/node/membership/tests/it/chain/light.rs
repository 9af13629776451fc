//! Light mode in front of a real anvil, next to full mode.

use std::time::Duration;

use undertone_membership::evm::{ChainStatus, EvmConfig, EvmRegistry, Health, LightRegistry};
use undertone_membership::{
    Member, MemberLookup, MembershipLog, MembershipView, RegistryError, View as _,
};
use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, ProofRequest, ProofStatement, Prover, RlnIdentifier,
    Verifier, external_nullifier, fr_from_le,
};

use crate::chain::proxy::{Mode, Proxy};
use crate::chain::rig::{LIMIT, PATIENCE, Rig};

impl Rig {
    pub(crate) fn light_config(&self, urls: &[&str]) -> EvmConfig {
        let mut config = self.config(urls);
        config.store = self.folder.path().join("light.sqlite");
        config.limits.max_answer_bytes = 1 << 20;
        config
    }

    pub(crate) fn light(&self) -> LightRegistry {
        LightRegistry::start(self.light_config(&[self.chain.endpoint()])).unwrap()
    }

    /// Waits until the newest root is the chain's.
    pub(crate) fn check_light(&self, registry: &LightRegistry) -> ChainStatus {
        let root = Some(self.root());
        let status = registry.chain().wait_until(PATIENCE, |status| {
            status.is_synced() && newest(registry) == root
        });
        assert_eq!(newest(registry), root, "{status:?}");
        assert!(status.is_synced(), "{status:?}");
        status
    }

    /// Waits until it is known whether `identity` is a member.
    pub(crate) fn look_up(&self, registry: &LightRegistry, identity: &Identity) -> Option<Member> {
        let commitment = identity.commitment();
        if let Err(error) = registry.find(commitment) {
            assert!(matches!(error, RegistryError::NotAnswered), "{error}");
        }
        let status = registry
            .chain()
            .wait_until(PATIENCE, |_| registry.find(commitment).is_ok());
        match registry.find(commitment) {
            Ok(member) => member,
            Err(error) => panic!("{error}: {status:?}"),
        }
    }
}

fn newest(registry: &LightRegistry) -> Option<Fr> {
    registry.view().lock().roots().newest()
}

pub(crate) fn roots(registry: &LightRegistry) -> Vec<Fr> {
    let view = registry.view();
    let view = view.lock();
    view.roots().iter().copied().collect()
}

/// Waits for a failure that no other endpoint makes up for.
fn degraded(registry: &LightRegistry) -> String {
    let status = registry.chain().wait_until(PATIENCE, |status| {
        matches!(status.health, Health::Degraded { .. })
    });
    match status.health {
        Health::Degraded { reason, .. } => reason,
        health => panic!("{health:?}"),
    }
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_path_of_light_mode_makes_proofs_that_full_mode_accepts() {
    let rig = Rig::start();
    (1..=9).for_each(|member| rig.register(member));
    let full = rig.follow();
    let light = rig.light();
    let identity = Identity::from_seed(b"light");
    assert_eq!(rig.look_up(&light, &identity), None);

    // Late, and no restart.
    rig.join(&identity.commitment());
    rig.check(&full);
    let index = full.find(identity.commitment()).unwrap().unwrap().index;
    rig.check_light(&light);
    let member = rig.look_up(&light, &identity).unwrap();
    assert_eq!((member.index, member.limit), (index, LIMIT));

    let key = Key::load().unwrap();
    let prover = Prover::new(std::sync::Arc::clone(&key));
    for other in 20..22 {
        let path = light.view().lock().path(index).unwrap();
        assert_eq!(path, full.view().lock().path(index));
        let x = Fr::from(other);
        let request = ProofRequest {
            identity: &identity,
            limit: LIMIT,
            path: &path,
            generation: Generation::Hashed,
            epoch: Epoch(7),
            identifier: &RlnIdentifier::WAKU,
            message_id: other as u32 % LIMIT,
            x,
        };
        let proof = prover.prove(&request).unwrap();
        let element = |bytes| fr_from_le(bytes).unwrap();
        let statement = ProofStatement {
            proof: proof.proof,
            y: element(&proof.share_y),
            root: element(&proof.merkle_root),
            nullifier: element(&proof.nullifier),
            x,
            external_nullifier: external_nullifier(
                Generation::Hashed,
                Epoch(7),
                &RlnIdentifier::WAKU,
            ),
        };
        assert!(Verifier::new(&key).verify(&statement).is_ok());
        let accepted = full.view();
        let accepted = accepted.lock();
        assert!(accepted.roots().contains(&statement.root));
        drop(accepted);
        rig.register(other);
        rig.check(&full);
        rig.check_light(&light);
    }
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn roots_are_the_newest_of_full_mode() {
    let rig = Rig::start();
    let light = rig.light();
    let status = light.chain().wait_until(PATIENCE, ChainStatus::is_synced);
    assert!(status.is_synced(), "{status:?}");
    assert!(roots(&light).is_empty(), "nobody is a member");
    (1..=7).for_each(|member| rig.register(member));
    rig.let_expire();
    let full = rig.follow();
    let all = |full: &EvmRegistry| -> Vec<Fr> {
        let view = full.view();
        let view: &MembershipView = &view.lock();
        view.roots().iter().copied().collect()
    };
    rig.check(&full);
    rig.check_light(&light);
    assert!(all(&full).ends_with(&roots(&light)[roots(&light).len() - 5..]));
    for step in 0..6 {
        match step % 2 {
            0 => rig.erase(step + 1, true),
            _ => rig.register(100 + step),
        }
        rig.check(&full);
        rig.check_light(&light);
    }
    let (full, light) = (all(&full), roots(&light));
    assert!(light.len() >= 11 && full.ends_with(&light), "{light:?}");
}

/// A member that is removed has no path, and its neighbours go on.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_member_that_is_slashed_has_no_path() {
    let rig = Rig::start();
    rig.register(1);
    let identity = Identity::from_seed(b"slashed");
    rig.join(&identity.commitment());
    let light = rig.light();
    let member = rig.look_up(&light, &identity).unwrap();
    let path = || light.view().lock().path(member.index);
    assert!(path().is_some());
    rig.slash(identity.secret());
    rig.check_light(&light);
    assert_eq!(path(), None);
    assert_eq!(rig.look_up(&light, &identity), None);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_restart_with_a_dead_endpoint_keeps_roots_and_path() {
    let rig = Rig::start();
    let identity = Identity::from_seed(b"restarted");
    (1..=3).for_each(|member| rig.register(member));
    rig.join(&identity.commitment());
    let light = rig.light();
    let member = rig.look_up(&light, &identity).unwrap();
    for other in 10..16 {
        rig.register(other);
        rig.check_light(&light);
    }
    let known = roots(&light);
    assert_eq!(known.len(), 10, "more than the contract keeps");
    drop(light);

    let light = LightRegistry::start(rig.light_config(&["http://127.0.0.1:1"])).unwrap();
    assert_eq!(roots(&light), known, "before any endpoint answers");
    assert_eq!(light.find(identity.commitment()).unwrap(), Some(member));
    let path = light.view().lock().path(member.index).unwrap();
    assert_eq!(path.root_of(member.leaf()), rig.root());
    let reason = degraded(&light);
    assert!(
        reason.contains("127.0.0.1:1: cannot be reached"),
        "{reason}"
    );
    assert!(
        light
            .chain()
            .status()
            .staleness()
            .unwrap()
            .contains("at block"),
        "how old it is"
    );
    assert_eq!(roots(&light), known);
    drop(light);

    // And it goes on from there when the endpoint is back.
    rig.register(30);
    let light = rig.light();
    rig.check_light(&light);
    assert_eq!(roots(&light)[..10], known[..]);
    assert_eq!(roots(&light).len(), 11);
}

/// Faults after which nothing is accepted that was not before.
const USELESS: [Mode; 10] = [
    Mode::Hang,
    Mode::ChainStatus(429),
    Mode::ChainStatus(500),
    Mode::Garbage,
    Mode::Endless,
    Mode::NoBlocks,
    Mode::WrongRoot,
    Mode::WrongRoots,
    Mode::WrongPath,
    Mode::Old(3),
];

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn the_only_endpoint_turns_bad_and_good_again() {
    let rig = Rig::start();
    let identity = Identity::from_seed(b"patient");
    rig.join(&identity.commitment());
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.light_config(&[&proxy.url]);
    config.limits.timeout = Duration::from_millis(500);
    let light = LightRegistry::start(config).unwrap();
    let member = rig.look_up(&light, &identity).unwrap();
    for (other, mode) in (10..).zip(USELESS) {
        rig.check_light(&light);
        let before = roots(&light);
        proxy.set(mode.clone());
        rig.register(other);
        degraded(&light);
        assert_eq!(roots(&light), before, "{mode:?}");
        let path = light.view().lock().path(member.index).unwrap();
        let root = path.root_of(member.leaf());
        assert_eq!(Some(&root), before.last(), "{mode:?}");
        proxy.set(Mode::Honest);
    }
    rig.check_light(&light);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn with_another_endpoint_nothing_is_lost() {
    let rig = Rig::start();
    let identity = Identity::from_seed(b"careful");
    rig.join(&identity.commitment());
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.light_config(&[&proxy.url, rig.chain.endpoint()]);
    config.limits.timeout = Duration::from_millis(200);
    let light = LightRegistry::start(config).unwrap();
    let member = rig.look_up(&light, &identity).unwrap();
    for (other, mode) in (10..).zip(USELESS) {
        rig.check_light(&light);
        // The first in the list is asked again.
        let asked = proxy.asked();
        light
            .chain()
            .wait_until(PATIENCE, |_| proxy.asked() > asked);
        proxy.set(mode.clone());
        let failed = light.chain().status().costs.failures;
        rig.register(other);
        rig.check_light(&light);
        let status = light
            .chain()
            .wait_until(PATIENCE, |status| status.costs.failures > failed);
        assert!(
            status.costs.failures > failed,
            "{mode:?} was tried: {status:?}"
        );
        let path = light.view().lock().path(member.index).unwrap();
        assert_eq!(path.root_of(member.leaf()), rig.root(), "{mode:?}");
        proxy.set(Mode::Honest);
    }
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn another_chain_is_never_used() {
    let rig = Rig::start();
    rig.register(1);
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Chain(1));
    let light = LightRegistry::start(rig.light_config(&[&proxy.url])).unwrap();
    let reason = degraded(&light);
    assert!(reason.contains("is of chain 1, not 31337"), "{reason}");
    assert!(roots(&light).is_empty());
    proxy.set(Mode::Honest);
    rig.check_light(&light);
    drop(light);

    proxy.set(Mode::Chain(1));
    let config = rig.light_config(&[&proxy.url, rig.chain.endpoint()]);
    let light = LightRegistry::start(config).unwrap();
    rig.register(2);
    assert!(rig.check_light(&light).costs.failures > 0, "it was tried");
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_reorganisation_leaves_its_roots_for_a_while() {
    let rig = Rig::start();
    (1..=8).for_each(|member| rig.register(member));
    let light = rig.light();
    rig.check_light(&light);
    for member in 20..23 {
        rig.register(member);
        rig.check_light(&light);
    }
    let gone = rig.root();
    rig.runtime.block_on(rig.chain.reorganise(3)).unwrap();
    rig.register(30);
    assert_eq!(rig.check_light(&light).reorganisations, 1);
    assert!(roots(&light).contains(&gone));
    let mine = |blocks| rig.runtime.block_on(rig.chain.mine(blocks)).unwrap();
    mine(40);
    let status = light
        .chain()
        .wait_until(PATIENCE, |_| !roots(&light).contains(&gone));
    assert!(!roots(&light).contains(&gone), "{status:?}");
}

/// What an idle node costs, and what strangers can cause.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn requests_are_few() {
    let rig = Rig::start();
    let identity = Identity::from_seed(b"thrifty");
    (1..=8).for_each(|member| rig.register(member));
    rig.join(&identity.commitment());
    let proxy = Proxy::start(rig.chain.endpoint(), Mode::Honest);
    let mut config = rig.light_config(&[&proxy.url]);
    // It looks when it is asked to.
    config.poll = Duration::from_secs(3600);
    config.throttle = Duration::from_secs(1);
    let light = LightRegistry::start(config).unwrap();
    rig.look_up(&light, &identity).unwrap();
    // The chain's id, block and roots; again with membership and path if the first look was over
    // before the commitment was looked up.
    assert!((5..=7).contains(&proxy.asked()), "{}", proxy.asked());

    // Nothing on the chain but blocks: one request, whoever asks for it how often.
    rig.runtime.block_on(rig.chain.mine(10)).unwrap();
    let before = light.chain().status();
    (0..100).for_each(|_| light.chain().request_refresh());
    let status = light
        .chain()
        .wait_until(PATIENCE, |status| status.compared > before.compared);
    assert!(status.compared > before.compared);
    assert_eq!(status.costs.requests, before.costs.requests + 1);
    assert_eq!(proxy.asked(), status.costs.requests);

    // A registration: roots, block, roots and path.
    (0..100).for_each(|_| light.chain().request_refresh());
    rig.register(20);
    rig.check_light(&light);
    assert_eq!(proxy.asked(), status.costs.requests + 4);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn over_a_web_socket_no_block_is_announced() {
    let rig = Rig::start();
    rig.register(1);
    let url = rig.chain.endpoint().replace("http://", "ws://");
    let light = LightRegistry::start(rig.light_config(&[&url])).unwrap();
    for member in 2..5 {
        rig.check_light(&light);
        rig.register(member);
    }
    rig.check_light(&light);
    assert_eq!(light.chain().status().costs.failures, 0);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn light_mode_has_the_identifier_of_full_mode() {
    let rig = Rig::start();
    let light = rig.light();
    assert_eq!(light.id(), rig.follow().id(), "the same members");
}
