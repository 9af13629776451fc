//! Calls of several threads.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use super::script::ScriptedWorld;
use super::*;

const THREADS: usize = 4;

#[test]
fn all_who_register_at_once_get_one_membership() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    let begin = Barrier::new(THREADS);
    let register = || {
        begin.wait();
        register(&module, &scope, 5, NOW).membership_hash
    };
    let hashes: BTreeSet<String> = thread::scope(|threads| {
        let threads = [(); THREADS].map(|()| threads.spawn(register));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(hashes.len(), 1);
    assert_eq!(world.a.script.lock().submissions, 1);
}

#[test]
fn all_who_prove_at_once_get_ids_of_their_own() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    register(&module, &scope, THREADS as u32, NOW);
    let begin = Barrier::new(THREADS);
    let prove = || {
        begin.wait();
        module.generate_proof(&scope, b"x", NOW).unwrap().nullifier
    };
    let nullifiers: BTreeSet<[u8; 32]> = thread::scope(|threads| {
        let threads = [(); THREADS].map(|()| threads.spawn(prove));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(nullifiers.len(), THREADS);
    assert_eq!(module.epoch_quota(&scope, NOW).unwrap().remaining, 0);
}

#[test]
fn stopping_ends_a_call_before_it_spends_a_message_id() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    register(&module, &scope, 5, NOW);
    module.generate_proof(&scope, b"x", NOW).unwrap();
    let gate = Arc::new([Barrier::new(2), Barrier::new(2)]);
    *world.a.gate.lock() = Some(Arc::clone(&gate));
    let ended = thread::scope(|threads| {
        let proving = threads.spawn(|| module.generate_proof(&scope, b"x", NOW));
        // The call reads the registry now.
        gate[0].wait();
        threads.spawn(|| module.stop());
        while !module.is_stopping() {
            thread::yield_now();
        }
        gate[1].wait();
        proving.join().unwrap().unwrap_err()
    });
    assert!(
        matches!(ended, ModuleError::NotReady(NotReadyReason::NotRunning)),
        "{ended:?}"
    );
    module.start(PASSWORD, NOW).unwrap();
    assert_eq!(module.epoch_quota(&scope, NOW).unwrap().remaining, 4);
}
