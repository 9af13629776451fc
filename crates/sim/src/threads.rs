//! Running one simulation on several threads, with the same outcome as on one.
//!
//! Conservative parallel simulation. No node can affect another sooner than the shortest delay
//! between any two; this is the lookahead by which all threads may run ahead of the earliest event.
//! Then they exchange the events that they scheduled. The order of a node's events does not depend on
//! the thread that runs it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

use crate::events::Event;
use crate::node::What;
use crate::outcome::Progress;
use crate::shard::Shard;
use crate::world::World;

/// Smallest useful lookahead; with a shorter delay, threads would wait for each other more than work.
const AHEAD_MIN_NS: u64 = 500_000;

/// Virtual time between two progress reports of a single thread.
const STEP_NS: u64 = 100_000_000;

/// Number of threads to use for a scenario. A browser has no threads to start.
pub(crate) fn worth(world: &World, threads: usize) -> usize {
    if world.shortest_delay_ns() < AHEAD_MIN_NS || cfg!(target_family = "wasm") {
        1
    } else {
        threads.clamp(1, 64)
    }
}

/// Runs all shards to the end of the simulation.
pub(crate) fn run(
    world: &World,
    shards: Vec<Shard>,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Shard> {
    match <[Shard; 1]>::try_from(shards) {
        Ok([shard]) => vec![run_alone(world, shard, progress)],
        Err(shards) => run_together(world, shards, progress),
    }
}

fn run_alone(world: &World, mut shard: Shard, progress: &mut dyn FnMut(Progress)) -> Shard {
    let mut now_ns = 0;
    while now_ns < world.end_ns {
        now_ns = now_ns.saturating_add(STEP_NS).min(world.end_ns);
        shard.run(world, now_ns);
        progress(Progress {
            virtual_ns: now_ns,
            end_ns: world.end_ns,
            events: shard.handled,
            deliveries: shard.bench.deliveries,
        });
    }
    shard
}

/// Synchronization point of the threads.
struct Meeting {
    barrier: Barrier,
    /// Time of each thread's next event.
    next_ns: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
    deliveries: Vec<AtomicU64>,
    /// Whether a thread panicked; without this flag the others would wait for it forever.
    failed: AtomicBool,
    /// Events sent between threads, by receiving thread.
    mail: Vec<Mutex<Vec<Event<What>>>>,
}

fn run_together(
    world: &World,
    shards: Vec<Shard>,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Shard> {
    let counters = || shards.iter().map(|_| AtomicU64::new(0)).collect();
    let meeting = Meeting {
        barrier: Barrier::new(shards.len()),
        next_ns: counters(),
        events: counters(),
        deliveries: counters(),
        failed: AtomicBool::new(false),
        mail: shards.iter().map(|_| Mutex::new(Vec::new())).collect(),
    };
    let meeting = &meeting;
    let mut shards = shards.into_iter();
    let first = shards.next();
    std::thread::scope(|scope| {
        let others: Vec<_> = shards
            .map(|shard| scope.spawn(move || attend(world, meeting, shard, &mut |_| {})))
            .collect();
        let first = first.map(|shard| attend(world, meeting, shard, progress));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(shard) => shard,
            Err(panic) => resume_unwind(panic),
        });
        first.into_iter().chain(others).collect()
    })
}

/// Runs one shard in lockstep with the others.
fn attend(
    world: &World,
    meeting: &Meeting,
    mut shard: Shard,
    progress: &mut dyn FnMut(Progress),
) -> Shard {
    let ahead_ns = world.shortest_delay_ns();
    loop {
        let next_ns = shard.events.next_ns().unwrap_or(u64::MAX);
        let me = shard.index();
        meeting.next_ns[me].store(next_ns, Ordering::Relaxed);
        meeting.events[me].store(shard.handled, Ordering::Relaxed);
        meeting.deliveries[me].store(shard.bench.deliveries, Ordering::Relaxed);
        meeting.barrier.wait();
        let all = |counters: &[AtomicU64]| -> Vec<u64> {
            counters.iter().map(|c| c.load(Ordering::Relaxed)).collect()
        };
        let earliest_ns = all(&meeting.next_ns).into_iter().min().unwrap_or(u64::MAX);
        progress(Progress {
            virtual_ns: earliest_ns.min(world.end_ns),
            end_ns: world.end_ns,
            events: all(&meeting.events).iter().sum(),
            deliveries: all(&meeting.deliveries).iter().sum(),
        });
        if earliest_ns >= world.end_ns {
            return shard;
        }
        let until_ns = earliest_ns.saturating_add(ahead_ns).min(world.end_ns);
        let ran = catch_unwind(AssertUnwindSafe(|| shard.run(world, until_ns)));
        meeting.failed.fetch_or(ran.is_err(), Ordering::Relaxed);
        for (to, events) in shard.outbox.iter_mut().enumerate() {
            let mut mail = meeting.mail[to]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            mail.append(events);
        }
        meeting.barrier.wait();
        if let Err(panic) = ran {
            resume_unwind(panic);
        }
        if meeting.failed.load(Ordering::Relaxed) {
            return shard;
        }
        let mut mail = meeting.mail[me]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for event in mail.drain(..) {
            shard.events.push(event);
        }
    }
}
