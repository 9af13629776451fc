use std::sync::Barrier;
use std::thread;

use super::*;

const THREADS: u64 = 4;
const NULLIFIERS: u64 = 2_000;

fn log() -> SharedNullifierLog {
    SharedNullifierLog::new(NullifierLimits {
        max_entries_per_epoch: NULLIFIERS as usize,
    })
}

/// Each thread inserts another message for each nullifier, concurrently and in different orders, so
/// that threads contend for many nullifiers.
#[test]
fn of_several_threads_one_is_new() {
    let log = log();
    let barrier = Barrier::new(THREADS as usize);
    let insert_all = &|thread: u64| {
        barrier.wait();
        let order = (0..NULLIFIERS).map(|i| match thread % 2 {
            0 => i,
            _ => NULLIFIERS - 1 - i,
        });
        let new = order.filter(|nullifier| {
            let (secret, slope, x) = (Fr::from(7), Fr::from(*nullifier), Fr::from(thread));
            let seen = log.insert(Epoch(1), slope, x, secret + slope * x);
            match seen {
                NullifierStatus::New => true,
                NullifierStatus::Spam { secret } => {
                    assert_eq!(secret.secret(), &Fr::from(7));
                    false
                }
                NullifierStatus::Duplicate => panic!("each thread has messages of its own"),
            }
        });
        new.count() as u64
    };
    let new: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || insert_all(thread)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(new, NULLIFIERS);
    assert_eq!(log.len() as u64, NULLIFIERS);
}

#[test]
fn checking_and_pruning_reach_the_log() {
    let log = log();
    assert!(log.is_empty());
    let [nullifier, x, y] = [1, 2, 3].map(Fr::from);
    assert_eq!(log.insert(Epoch(1), nullifier, x, y), NullifierStatus::New);
    assert_eq!(
        log.check(Epoch(1), nullifier, x, y),
        NullifierStatus::Duplicate
    );
    log.prune(Epoch(2)..=Epoch(3));
    assert_eq!(log.check(Epoch(1), nullifier, x, y), NullifierStatus::New);
}
