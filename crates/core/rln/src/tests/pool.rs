use proptest::prelude::*;

use super::*;

const EPOCH_NS: u64 = 600_000_000_000;

fn around(epoch: u64, upcoming: Option<u32>, root_version: u64) -> PoolInputs {
    PoolInputs {
        now_ns: epoch * EPOCH_NS,
        epoch: Epoch(epoch),
        next_epoch_at_ns: (epoch + 1) * EPOCH_NS,
        upcoming,
        limit: 20,
        root_version,
    }
}

fn config() -> PoolConfig {
    PoolConfig {
        size: 3,
        max_cpu_percent: 100,
        ..PoolConfig::default()
    }
}

/// Does all pending work; returns the keys in the order of the work.
fn fill(pool: &mut Pool<()>, around: &PoolInputs) -> Vec<(u64, u32)> {
    let mut done = Vec::new();
    while let Work::Prepare { epoch, message_id } = pool.next_work(around) {
        done.push((epoch.0, message_id));
        pool.insert(
            (epoch, message_id),
            around.root_version,
            (),
            1,
            around.now_ns,
        );
    }
    assert_eq!(pool.next_work(around), Work::Idle);
    done
}

#[test]
fn the_ids_that_come_next_are_prepared_and_no_more() {
    let mut pool = Pool::new(config());
    assert_eq!(
        fill(&mut pool, &around(5, Some(0), 0)),
        [(5, 0), (5, 1), (5, 2)]
    );
    assert_eq!(pool.remove((Epoch(5), 0), 0), Some(()));
    assert_eq!(fill(&mut pool, &around(5, Some(1), 0)), [(5, 3)]);
    // Ids 1 to 16 were used without tokens from the pool.
    assert_eq!(
        fill(&mut pool, &around(5, Some(17), 0)),
        [(5, 17), (5, 18), (5, 19)]
    );
    assert_eq!(fill(&mut pool, &around(5, Some(19), 0)), []);
    assert_eq!(fill(&mut pool, &around(5, None, 0)), []);
    let expected = PoolSnapshot {
        ready: 0,
        prepared_total: 7,
        taken_total: 1,
        missed_total: 0,
        discarded_total: 6,
        spent_ns_total: 7,
    };
    assert_eq!(pool.snapshot(), expected);
}

#[test]
fn the_next_epochs_come_after_this_ones_and_not_too_early() {
    let mut pool = Pool::new(config());
    let early = around(5, Some(18), 0);
    assert_eq!(fill(&mut pool, &early), [(5, 18), (5, 19)]);
    let near = PoolInputs {
        now_ns: early.next_epoch_at_ns - config().next_epoch_lead_ns,
        ..early
    };
    let before = PoolInputs {
        now_ns: near.now_ns - 1,
        ..early
    };
    assert_eq!(fill(&mut pool, &before), []);
    assert_eq!(fill(&mut pool, &near), [(6, 0), (6, 1), (6, 2)]);
    // The next epoch starts: the tokens prepared early are those wanted now.
    assert_eq!(fill(&mut pool, &around(6, Some(0), 0)), []);
    assert_eq!(pool.snapshot().ready, 3);
    assert_eq!(pool.snapshot().discarded_total, 2);
}

#[test]
fn tokens_of_old_roots_are_renewed_but_given_out_until_then() {
    let mut pool = Pool::new(config());
    fill(&mut pool, &around(5, Some(0), 100));
    assert_eq!(fill(&mut pool, &around(5, Some(0), 124)), []);
    assert_eq!(pool.remove((Epoch(5), 0), 125), Some(()), "old, but good");
    // The missing token is prepared first.
    assert_eq!(
        fill(&mut pool, &around(5, Some(1), 125)),
        [(5, 3), (5, 1), (5, 2)]
    );
    assert_eq!(pool.snapshot().discarded_total, 2);
}

#[test]
fn tokens_of_roots_that_nobody_accepts_are_not_given_out() {
    let mut pool = Pool::new(config());
    fill(&mut pool, &around(5, Some(0), 100));
    assert_eq!(pool.remove((Epoch(5), 0), 149), Some(()));
    assert_eq!(pool.remove((Epoch(5), 1), 150), None);
    assert_eq!(
        pool.next_work(&around(5, Some(2), 150)),
        Work::Prepare {
            epoch: Epoch(5),
            message_id: 2
        }
    );
    let snapshot = pool.snapshot();
    assert_eq!(
        (
            snapshot.ready,
            snapshot.missed_total,
            snapshot.discarded_total
        ),
        (0, 1, 2)
    );
}

#[test]
fn the_processors_share_is_kept() {
    let mut pool = Pool::new(PoolConfig {
        max_cpu_percent: 20,
        ..config()
    });
    let mut now = around(5, Some(0), 0);
    assert!(matches!(pool.next_work(&now), Work::Prepare { .. }));
    now.now_ns += 50;
    pool.insert((Epoch(5), 0), 0, (), 50, now.now_ns);
    let at_ns = now.now_ns + 200;
    assert_eq!(pool.next_work(&now), Work::WaitUntil { at_ns });
    now.now_ns = at_ns - 1;
    assert_eq!(pool.next_work(&now), Work::WaitUntil { at_ns });
    now.now_ns = at_ns;
    assert!(matches!(
        pool.next_work(&now),
        Work::Prepare { message_id: 1, .. }
    ));
}

#[test]
fn a_pool_of_size_0_does_nothing() {
    let mut pool = Pool::<()>::new(PoolConfig {
        size: 0,
        ..config()
    });
    assert_eq!(pool.next_work(&around(5, Some(0), 0)), Work::Idle);
    assert_eq!(pool.remove((Epoch(5), 0), 0), None);
    assert_eq!(pool.snapshot().missed_total, 1);
}

proptest! {
    /// For any sequence of events, the pool is bounded, gives out no token twice and none of another
    /// epoch or of an unaccepted root, and accounts for every token.
    #[test]
    fn every_token_is_accounted_for(
        steps in prop::collection::vec((0u8..5, 0u32..25, 0u64..70), 1..60),
    ) {
        let mut pool = Pool::new(config());
        let mut now = around(5, Some(0), 0);
        let mut serial = 0;
        let mut taken = std::collections::BTreeSet::new();
        for (kind, id, roots) in steps {
            match kind {
                0 => now.root_version += roots,
                1 => {
                    now = PoolInputs { root_version: now.root_version, ..around(now.epoch.0 + 1, Some(0), 0) };
                }
                2 => now.now_ns = now.next_epoch_at_ns - 1,
                3 => {
                    // The counter gives out each id once, in ascending order: some may be skipped.
                    let Some(upcoming) = now.upcoming else { continue };
                    let id = id.max(upcoming);
                    if let Some((made_at, key)) = pool.remove((now.epoch, id), now.root_version) {
                        prop_assert_eq!(key, (now.epoch, id));
                        prop_assert!(now.root_version - made_at < config().root_window);
                        prop_assert!(taken.insert(key), "{:?} twice", key);
                        now.upcoming = Some(id + 1).filter(|id| *id < now.limit);
                    }
                }
                _ => {
                    if let Work::Prepare { epoch, message_id } = pool.next_work(&now) {
                        let key = (epoch, message_id);
                        prop_assert!(message_id < now.limit);
                        pool.insert(key, now.root_version, (now.root_version, key), 1, now.now_ns);
                        serial += 1;
                    }
                }
            }
            let PoolSnapshot { ready, prepared_total, taken_total, discarded_total, .. } = pool.snapshot();
            prop_assert!(ready <= 3 * config().size);
            prop_assert_eq!(prepared_total, serial);
            prop_assert_eq!(prepared_total, ready as u64 + taken_total + discarded_total);
        }
    }
}
