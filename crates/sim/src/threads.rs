//! Running one simulation on several threads, with the same outcome as on one.
//!
//! Conservative parallel simulation. No node can affect another sooner than the shortest delay between any
//! two. This delay is the lookahead: every thread handles its events up to the earliest event of all threads
//! plus the lookahead, then the threads exchange the events that they scheduled. The order of a node's events
//! does not depend on the thread that runs it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

use crate::events::Scheduled;
use crate::node::event::Event;
use crate::outcome::Progress;
use crate::shard::NodeShard;
use crate::world::World;

/// Shortest useful lookahead; with a shorter delay, threads would wait for each other more than work.
const LOOKAHEAD_MIN_NS: u64 = 500_000;

/// Virtual time between two progress reports of a single thread.
const STEP_NS: u64 = 100_000_000;

/// Number of threads to use for a scenario. A browser has no threads to start.
pub(crate) fn worth(world: &World, threads: usize) -> usize {
    if world.shortest_delay_ns() < LOOKAHEAD_MIN_NS || cfg!(target_family = "wasm") {
        1
    } else {
        threads.clamp(1, 64)
    }
}

/// Runs all shards to the end of the simulation, or until `progress` breaks off.
pub(crate) fn run(
    world: &World,
    shards: Vec<NodeShard>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Vec<NodeShard> {
    match <[NodeShard; 1]>::try_from(shards) {
        Ok([shard]) => vec![run_alone(world, shard, progress)],
        Err(shards) => run_together(world, shards, progress),
    }
}

fn run_alone(
    world: &World,
    mut shard: NodeShard,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> NodeShard {
    let mut now_ns = 0;
    while now_ns < world.end_ns {
        now_ns = now_ns.saturating_add(STEP_NS).min(world.end_ns);
        shard.run(world, now_ns);
        let flow = progress(Progress {
            virtual_ns: now_ns,
            end_ns: world.end_ns,
            events: shard.handled,
            deliveries: shard.scratch.deliveries,
        });
        if flow.is_break() {
            break;
        }
    }
    shard
}

/// Synchronization point of the threads.
struct SyncPoint {
    barrier: Barrier,
    /// Time of each thread's next event.
    next_ns: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
    deliveries: Vec<AtomicU64>,
    /// Whether a thread panicked; without this flag the others would wait for it forever.
    failed: AtomicBool,
    /// Whether the run is to be stopped.
    stopped: AtomicBool,
    /// Events sent between threads, by receiving thread.
    inboxes: Vec<Mutex<Vec<Scheduled<Event>>>>,
}

fn run_together(
    world: &World,
    shards: Vec<NodeShard>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Vec<NodeShard> {
    let counters = || shards.iter().map(|_| AtomicU64::new(0)).collect();
    let sync = SyncPoint {
        barrier: Barrier::new(shards.len()),
        next_ns: counters(),
        events: counters(),
        deliveries: counters(),
        failed: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
        inboxes: shards.iter().map(|_| Mutex::new(Vec::new())).collect(),
    };
    let sync = &sync;
    let mut shards = shards.into_iter();
    let first = shards.next();
    std::thread::scope(|scope| {
        let others: Vec<_> = shards
            .map(|shard| {
                scope.spawn(move || {
                    run_shard(world, sync, shard, &mut |_| ControlFlow::Continue(()))
                })
            })
            .collect();
        let first = first.map(|shard| run_shard(world, sync, shard, progress));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(shard) => shard,
            Err(panic) => resume_unwind(panic),
        });
        first.into_iter().chain(others).collect()
    })
}

/// Runs one shard in lockstep with the others.
fn run_shard(
    world: &World,
    sync: &SyncPoint,
    mut shard: NodeShard,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> NodeShard {
    let lookahead_ns = world.shortest_delay_ns();
    loop {
        let next_ns = shard.events.next_ns().unwrap_or(u64::MAX);
        let me = shard.index();
        sync.next_ns[me].store(next_ns, Ordering::Relaxed);
        sync.events[me].store(shard.handled, Ordering::Relaxed);
        sync.deliveries[me].store(shard.scratch.deliveries, Ordering::Relaxed);
        sync.barrier.wait();
        let all = |counters: &[AtomicU64]| -> Vec<u64> {
            counters.iter().map(|c| c.load(Ordering::Relaxed)).collect()
        };
        let earliest_ns = all(&sync.next_ns).into_iter().min().unwrap_or(u64::MAX);
        let flow = progress(Progress {
            virtual_ns: earliest_ns.min(world.end_ns),
            end_ns: world.end_ns,
            events: all(&sync.events).iter().sum(),
            deliveries: all(&sync.deliveries).iter().sum(),
        });
        if flow.is_break() {
            sync.stopped.store(true, Ordering::Relaxed);
        }
        if earliest_ns >= world.end_ns {
            return shard;
        }
        let until_ns = earliest_ns.saturating_add(lookahead_ns).min(world.end_ns);
        let ran = catch_unwind(AssertUnwindSafe(|| shard.run(world, until_ns)));
        sync.failed.fetch_or(ran.is_err(), Ordering::Relaxed);
        for (to, events) in shard.outbox.iter_mut().enumerate() {
            let mut inbox = sync.inboxes[to]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            inbox.append(events);
        }
        sync.barrier.wait();
        if let Err(panic) = ran {
            resume_unwind(panic);
        }
        if sync.failed.load(Ordering::Relaxed) || sync.stopped.load(Ordering::Relaxed) {
            return shard;
        }
        let mut inbox = sync.inboxes[me]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for event in inbox.drain(..) {
            shard.events.push(event);
        }
    }
}
