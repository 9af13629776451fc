//! What is accepted and what is refused.

use undertone_rln::{Epoch, ProofField, RlnIdentifier, SnarkInvalid};

use super::script::ScriptedWorld;
use super::*;

const SIGNAL: &[u8] = b"what is said";

/// A call of `verify_proof`, to be spoilt in one place.
#[derive(Clone)]
struct Call {
    scope: MembershipScope,
    signal: Vec<u8>,
    proof: ModuleProof,
    now: u64,
}

type Spoil = fn(&mut Call, &ModuleProof);

#[test]
fn every_condition_counts() {
    let world = ScriptedWorld::new();
    let module = world.start(NOW);
    let [scope, _] = world.scopes();
    register(&module, &scope, 5, NOW);
    let prove = |signal: &[u8]| module.generate_proof(&scope, signal, NOW).unwrap();
    let (proof, other) = (prove(SIGNAL), prove(b"something else"));
    let honest = Call {
        scope,
        signal: SIGNAL.to_vec(),
        proof,
        now: NOW,
    };
    let judge = |call: &Call| {
        let judged = module.judge_proof(&call.scope, &call.signal, &call.proof, call.now);
        let accepted = module.verify_proof(&call.scope, &call.signal, &call.proof, call.now);
        assert_eq!(judged.as_ref().unwrap().is_ok(), accepted.unwrap());
        judged.unwrap()
    };
    assert_eq!(judge(&honest), Ok(()));
    let (found, now) = (Epoch(NOW / EPOCH), |by: i64| {
        Epoch((NOW / EPOCH).strict_add_signed(by))
    });
    let too_far = |now| ProofDefect::EpochTooFar {
        found,
        now,
        max_gap: 1,
    };
    let equation = ProofDefect::Snark(SnarkInvalid::Equation);
    let rows: [(&str, Spoil, Result<(), ProofDefect>); 16] = [
        ("one epoch later", |c, _| c.now += EPOCH, Ok(())),
        ("one epoch earlier", |c, _| c.now -= EPOCH, Ok(())),
        (
            "two epochs later",
            |c, _| c.now += 2 * EPOCH,
            Err(too_far(now(2))),
        ),
        (
            "two epochs earlier",
            |c, _| c.now -= 2 * EPOCH,
            Err(too_far(now(-2))),
        ),
        (
            "epoch no number",
            |c, _| c.proof.epoch[8] = 1,
            Err(Epoch::from_bytes(&{
                let mut bytes = found.to_bytes();
                bytes[8] = 1;
                bytes
            })
            .unwrap_err()
            .into()),
        ),
        (
            "another epoch, old external nullifier",
            |c, _| c.proof.epoch = Epoch(NOW / EPOCH - 1).to_bytes(),
            Err(ProofDefect::ForeignExternalNullifier),
        ),
        (
            "another external nullifier",
            |c, _| c.proof.external_nullifier[0] ^= 1,
            Err(ProofDefect::ForeignExternalNullifier),
        ),
        (
            "another application",
            |c, _| c.scope.identifier = RlnIdentifier([1; 32]),
            Err(ProofDefect::ForeignExternalNullifier),
        ),
        (
            "another signal",
            |c, _| c.signal.push(b'!'),
            Err(ProofDefect::SignalMismatch),
        ),
        (
            "another share_x",
            |c, other| c.proof.share_x = other.share_x,
            Err(ProofDefect::SignalMismatch),
        ),
        (
            "share_y above r",
            |c, _| c.proof.share_y = [0xff; 32],
            Err(ProofDefect::NonCanonical(ProofField::ShareY)),
        ),
        (
            "nullifier above r",
            |c, _| c.proof.nullifier = [0xff; 32],
            Err(ProofDefect::NonCanonical(ProofField::Nullifier)),
        ),
        (
            "an unknown root",
            |c, _| c.proof.root[0] ^= 1,
            Err(ProofDefect::UnknownRoot { window_len: 1 }),
        ),
        (
            "the SNARK of another message",
            |c, other| c.proof.proof = other.proof,
            Err(equation),
        ),
        (
            "another share_y",
            |c, other| c.proof.share_y = other.share_y,
            Err(equation),
        ),
        (
            "another nullifier",
            |c, other| c.proof.nullifier = other.nullifier,
            Err(equation),
        ),
    ];
    for (what, spoil, expected) in rows {
        let mut call = honest.clone();
        spoil(&mut call, &other);
        assert_eq!(judge(&call), expected, "{what}");
    }
}

#[test]
fn a_root_counts_until_it_leaves_the_window() {
    let world = FileWorld::new();
    let module = world.start(NOW);
    let scope = &world.scope;
    register(&module, scope, 5, NOW);
    let proof = module.generate_proof(scope, SIGNAL, NOW).unwrap();
    let accepts = || {
        module.maintain(NOW).unwrap();
        module.verify_proof(scope, SIGNAL, &proof, NOW).unwrap()
    };
    for newcomer in 1..WINDOW as u64 {
        world.file.register(newcomer.into(), 1).unwrap();
        assert!(accepts(), "{newcomer} newer roots");
    }
    world.file.register(1_000.into(), 1).unwrap();
    assert!(!accepts());
    // The member itself goes on, under the newest root.
    let fresh = module.generate_proof(scope, SIGNAL, NOW).unwrap();
    assert!(module.verify_proof(scope, SIGNAL, &fresh, NOW).unwrap());
}

#[test]
fn verification_needs_neither_membership_nor_registry() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let member = world.start(NOW);
    register(&member, &scope, 5, NOW);
    let proof = member.generate_proof(&scope, SIGNAL, NOW).unwrap();
    drop(member);

    // Another folder, without a membership.
    let verifier = ScriptedWorld {
        folder: tempfile::tempdir().unwrap(),
        a: world.a.clone(),
        b: world.b.clone(),
    };
    let module = verifier.start(NOW);
    assert_eq!(status(&module, &scope, NOW), MembershipStatus::Unknown);
    world.a.script.lock().is_reachable = false;
    let before = world.a.script.lock().accesses;
    assert!(module.verify_proof(&scope, SIGNAL, &proof, NOW).unwrap());
    assert!(!module.verify_proof(&scope, b"no", &proof, NOW).unwrap());
    assert_eq!(world.a.script.lock().accesses, before);

    world.a.script.lock().is_ready = false;
    let cold = module.verify_proof(&scope, SIGNAL, &proof, NOW);
    let cold = cold.unwrap_err();
    assert!(
        matches!(cold, ModuleError::NotReady(NotReadyReason::ColdView { .. })),
        "{cold:?}"
    );
}

#[test]
fn the_wire_form_is_that_of_messages() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    register(&module, &scope, 5, NOW);
    // The signal of a Waku message: payload, content topic, timestamp.
    let timestamp_ns = i64::try_from(NOW).unwrap();
    let signal = [b"hi", &b"/t/1/a/proto"[..], &timestamp_ns.to_le_bytes()].concat();
    let proof = module.generate_proof(&scope, &signal, NOW).unwrap();
    let wire = proof.to_wire(&RlnIdentifier::WAKU);
    let wire = undertone_rln::RateLimitProof::decode(&wire.encode()).unwrap();

    let policy = undertone_rln::Policy {
        generation: undertone_rln::Generation::Hashed,
        identifier: RlnIdentifier::WAKU,
        epoch_size_s: 600,
        max_clock_gap_ns: 0,
    };
    let x = undertone_rln::signal_hash(b"hi", "/t/1/a/proto", timestamp_ns);
    let view = world.a.view();
    let view = view.lock();
    let checked =
        undertone_rln::check::check(&policy, view.roots(), NOW, timestamp_ns, x, &wire).unwrap();
    undertone_rln::Verifier::new(&key())
        .verify(&checked.statement)
        .unwrap();
    assert_eq!(ModuleProof::from_wire(&wire), Ok(proof));
}
