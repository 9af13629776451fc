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

/// Number of threads worth using for a scenario. A browser cannot start threads.
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

/// Runs all nodes of this process to the end of the simulation, or until `progress` breaks off.
pub(crate) fn run(world: &World, layout: &Layout, progress: OnProgress<'_>) -> Ran {
    if layout.total() == 1 {
        return run_alone(world, NodeShard::new(world, layout, 0), progress);
    }
    match run_together(world, layout, None, progress) {
        Ok(ran) => ran,
        Err(error) => unreachable!("a process alone exchanges no messages: {error}"),
    }
}

/// Runs all nodes of this rank to the end of the simulation, in step with those of the other ranks.
pub(crate) fn run_on_ranks(
    world: &World,
    (ranks, layout): (&mut dyn Ranks, &Layout),
    progress: OnProgress<'_>,
) -> Result<Ran, RankError> {
    run_together(world, layout, Some(ranks), progress)
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
            // At the end nothing is left to interrupt.
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
    layout: &Layout,
    ranks: Option<&mut dyn Ranks>,
    progress: OnProgress<'_>,
) -> Result<Ran, RankError> {
    let sync = SyncPoint::new(layout.threads());
    let sync = &sync;
    let mut leader = match ranks {
        Some(ranks) => Leader::new(world, sync, Some((ranks, layout)), progress),
        None => Leader::new(world, sync, None, progress),
    };
    let shards = std::thread::scope(|scope| {
        let others: Vec<_> = (1..layout.threads())
            .map(|thread| scope.spawn(move || run_shard(world, sync, (layout, thread), None)))
            .collect();
        let first = run_shard(world, sync, (layout, 0), Some(&mut leader));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(shard) => shard,
            Err(panic) => resume_unwind(panic),
        });
        std::iter::once(first).chain(others).collect()
    });
    let stopped_ns = leader.ended()?;
    if let Some((rank, Unreadable(what))) = sync.unreadable() {
        return Err(RankError::Malformed { rank, what });
    }
    Ok(Ran { shards, stopped_ns })
}

/// Makes one shard and runs it in lockstep with the others; the first thread leads.
///
/// Each shard is created by the thread that runs it. With an allocator that has a heap per thread, the threads then do
/// not share one heap.
fn run_shard(
    world: &World,
    sync: &SyncPoint,
    (layout, thread): (&Layout, usize),
    mut leader: Option<&mut Leader<'_>>,
) -> NodeShard {
    let lookahead_ns = world.shortest_delay_ns();
    let mut shard = None;
    // The first window is empty; it lets all threads learn of the earliest event.
    let mut until_ns = 0;
    loop {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let shard = shard.get_or_insert_with(|| NodeShard::new(world, layout, thread));
            shard.run(world, until_ns);
        }));
        sync.leave(thread, shard.as_mut(), ran.is_err());
        sync.barrier.wait();
        if let Some(leader) = &mut leader {
            let verdict = leader.meet();
            sync.decide(verdict);
        }
        sync.barrier.wait();
        if let Err(panic) = ran {
            resume_unwind(panic);
        }
        let mut own = shard.expect("a shard that could not be made has panicked");
        let Verdict::Go { earliest_ns } = sync.verdict() else {
            return own;
        };
        if let Err(unreadable) = sync.take(&mut own) {
            sync.fail(unreadable);
        }
        if earliest_ns >= world.end_ns {
            return own;
        }
        shard = Some(own);
        until_ns = earliest_ns.saturating_add(lookahead_ns).min(world.end_ns);
    }
}
