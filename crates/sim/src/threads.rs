//! Running one simulation on several threads, with the same outcome as on one.
//!
//! Conservative parallel simulation. No node can affect another sooner than the shortest delay between any
//! two. This delay is the lookahead: every thread handles its events up to the earliest event of all threads
//! plus the lookahead, then the threads exchange the events that they scheduled. The order of a node's events
//! does not depend on the thread that runs it. The threads may be those of several processes (ranks): their first
//! threads then carry the events between them.

mod leader;
mod sync;

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::layout::Layout;
use crate::outcome::Progress;
use crate::ranks::reader::Unreadable;
use crate::ranks::{RankError, Ranks};
use crate::shard::NodeShard;
use crate::threads::leader::Leader;
use crate::threads::sync::{SyncPoint, Verdict};
use crate::world::World;

/// Shortest useful lookahead; with a shorter delay, threads would wait for each other more than work.
pub(crate) const LOOKAHEAD_MIN_NS: u64 = 500_000;

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

type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Shards after a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) shards: Vec<NodeShard>,
    /// Time at which the run was stopped, if it was, nanoseconds.
    pub(crate) stopped_ns: Option<u64>,
}

/// Runs all shards of this process to the end of the simulation, or until `progress` breaks off.
pub(crate) fn run(world: &World, shards: Vec<NodeShard>, progress: OnProgress<'_>) -> Ran {
    match <[NodeShard; 1]>::try_from(shards) {
        Ok([shard]) => run_alone(world, shard, progress),
        Err(shards) => match run_together(world, shards, None, progress) {
            Ok(ran) => ran,
            Err(error) => unreachable!("a process alone exchanges no letters: {error}"),
        },
    }
}

/// Runs all shards of this rank to the end of the simulation, in step with those of the other ranks.
pub(crate) fn run_on_ranks(
    world: &World,
    shards: Vec<NodeShard>,
    (ranks, layout): (&mut dyn Ranks, &Layout),
    progress: OnProgress<'_>,
) -> Result<Ran, RankError> {
    run_together(world, shards, Some((ranks, layout)), progress)
}

fn run_alone(world: &World, mut shard: NodeShard, progress: OnProgress<'_>) -> Ran {
    let mut now_ns = 0;
    let mut stopped_ns = None;
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
            // What is left to do at the end is nothing.
            stopped_ns = Some(now_ns).filter(|now_ns| *now_ns < world.end_ns);
            break;
        }
    }
    Ran {
        shards: vec![shard],
        stopped_ns,
    }
}

fn run_together(
    world: &World,
    shards: Vec<NodeShard>,
    ranks: Option<(&mut dyn Ranks, &Layout)>,
    progress: OnProgress<'_>,
) -> Result<Ran, RankError> {
    let sync = SyncPoint::new(&shards);
    let sync = &sync;
    let mut leader = match ranks {
        Some((ranks, layout)) => Leader::new(world, sync, Some((ranks, layout)), progress),
        None => Leader::new(world, sync, None, progress),
    };
    let mut shards = shards.into_iter();
    let first = shards.next();
    let shards = std::thread::scope(|scope| {
        let others: Vec<_> = shards
            .map(|shard| scope.spawn(move || run_shard(world, sync, shard, None)))
            .collect();
        let first = first.map(|shard| run_shard(world, sync, shard, Some(&mut leader)));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(shard) => shard,
            Err(panic) => resume_unwind(panic),
        });
        first.into_iter().chain(others).collect()
    });
    let stopped_ns = leader.ended()?;
    if let Some((rank, Unreadable(what))) = sync.unreadable() {
        return Err(RankError::Malformed { rank, what });
    }
    Ok(Ran { shards, stopped_ns })
}

/// Runs one shard in lockstep with the others; the first thread leads.
fn run_shard(
    world: &World,
    sync: &SyncPoint,
    mut shard: NodeShard,
    mut leader: Option<&mut Leader<'_>>,
) -> NodeShard {
    let lookahead_ns = world.shortest_delay_ns();
    // The first window is empty, so that all learn of the earliest event.
    let mut until_ns = 0;
    loop {
        let ran = catch_unwind(AssertUnwindSafe(|| shard.run(world, until_ns)));
        sync.leave(&mut shard, ran.is_err());
        sync.barrier.wait();
        if let Some(leader) = &mut leader {
            let verdict = leader.meet();
            sync.decide(verdict);
        }
        sync.barrier.wait();
        if let Err(panic) = ran {
            resume_unwind(panic);
        }
        let Verdict::Go { earliest_ns } = sync.verdict() else {
            return shard;
        };
        if let Err(unreadable) = sync.take(&mut shard) {
            sync.fail(unreadable);
        }
        if earliest_ns >= world.end_ns {
            return shard;
        }
        until_ns = earliest_ns.saturating_add(lookahead_ns).min(world.end_ns);
    }
}
