//! Synchronization point of the threads of one process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use crate::events::Scheduled;
use crate::node::event::Event;
use crate::ranks::event_codec;
use crate::ranks::frames::HeldFrames;
use crate::ranks::header::Header;
use crate::ranks::reader::Unreadable;
use crate::shard::NodeShard;

/// Decision of the first thread about the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The earliest event of all is at this time, or the run ends then.
    Go { earliest_ns: u64 },
    /// The run has ended.
    Stop,
}

/// Sections of messages, each with the number of the rank that sent it.
type ReceivedSections = Vec<(usize, Vec<u8>)>;

/// Shared state through which the threads exchange the events they scheduled for each other.
#[derive(Debug)]
pub(super) struct SyncPoint {
    pub(super) barrier: Barrier,
    /// Time of the earliest event that each thread has, or has scheduled for another.
    next_ns: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
    deliveries: Vec<AtomicU64>,
    /// Whether a thread panicked; without this flag the others would wait for it forever.
    failed: AtomicBool,
    /// Encoded [`Verdict`]: time of the next window, or the largest number for the end.
    verdict: AtomicU64,
    /// Events for each thread of this process from the others.
    inboxes: Vec<Mutex<Vec<Scheduled<Event>>>>,
    /// Sections of messages for each thread of this process.
    received: Vec<Mutex<ReceivedSections>>,
    /// Sections of messages from each thread of this process, indexed by the receiving thread among those of all
    /// processes.
    sections: Vec<Mutex<Vec<Vec<u8>>>>,
    /// First message that could not be read, with the number of the rank that sent it.
    unreadable: Mutex<Option<(usize, Unreadable)>>,
    held: HeldFrames,
}

impl SyncPoint {
    pub(super) fn new(threads: usize) -> Self {
        let counters = || (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self {
            barrier: Barrier::new(threads),
            next_ns: counters(),
            events: counters(),
            deliveries: counters(),
            failed: AtomicBool::new(false),
            verdict: AtomicU64::new(0),
            inboxes: (0..threads).map(|_| Mutex::default()).collect(),
            received: (0..threads).map(|_| Mutex::default()).collect(),
            sections: (0..threads).map(|_| Mutex::default()).collect(),
            unreadable: Mutex::new(None),
            held: HeldFrames::default(),
        }
    }

    /// Publishes a thread's work in a window; its shard is `None` if it could not be created.
    pub(super) fn leave(&self, me: usize, shard: Option<&mut NodeShard>, has_failed: bool) {
        self.failed.fetch_or(has_failed, Ordering::Relaxed);
        let Some(shard) = shard else {
            return;
        };
        let own_ns = shard.events.next_ns().unwrap_or(u64::MAX);
        let sent_ns = shard.outbox.iter().flatten().map(|event| event.key.at_ns);
        let next_ns = sent_ns.min().unwrap_or(u64::MAX).min(own_ns);
        self.next_ns[me].store(next_ns, Ordering::Relaxed);
        self.events[me].store(shard.handled, Ordering::Relaxed);
        self.deliveries[me].store(shard.scratch.deliveries, Ordering::Relaxed);
        let own = shard.own_threads();
        let mut sections = lock(&self.sections[me]);
        sections.resize(shard.outbox.len(), Vec::new());
        for (to, events) in shard.outbox.iter_mut().enumerate() {
            if own.contains(&to) {
                lock(&self.inboxes[to - own.start]).append(events);
            } else {
                event_codec::write(&mut sections[to], events);
                events.clear();
            }
        }
    }

    /// Takes the events that other threads have scheduled for this one.
    pub(super) fn take(&self, shard: &mut NodeShard) -> Result<(), (usize, Unreadable)> {
        let me = shard.thread();
        for event in lock(&self.inboxes[me]).drain(..) {
            shard.events.push(event);
        }
        for (from, section) in lock(&self.received[me]).drain(..) {
            let push = |event: Scheduled<Event>| {
                if shard.holds(event.node) {
                    shard.events.push(event);
                    return Ok(());
                }
                Err(Unreadable("node of an event"))
            };
            event_codec::read(&section, &self.held, push).map_err(|error| (from, error))?;
        }
        Ok(())
    }

    /// Combined state of all threads of this process.
    pub(super) fn header(&self) -> Header {
        let all = |counters: &[AtomicU64]| -> Vec<u64> {
            counters.iter().map(|c| c.load(Ordering::Relaxed)).collect()
        };
        Header {
            next_ns: all(&self.next_ns).into_iter().min().unwrap_or(u64::MAX),
            stopped_ns: u64::MAX,
            has_failed: self.failed.load(Ordering::Relaxed),
            events: all(&self.events).iter().sum(),
            deliveries: all(&self.deliveries).iter().sum(),
        }
    }

    /// Takes the sections for a thread of another process, one from each thread of this one.
    pub(super) fn sections_to(&self, thread: usize) -> impl Iterator<Item = Vec<u8>> {
        self.sections.iter().map(move |sections| {
            let mut sections = lock(sections);
            sections
                .get_mut(thread)
                .map(std::mem::take)
                .unwrap_or_default()
        })
    }

    /// Stores another rank's section for a thread of this process.
    pub(super) fn receive(&self, thread: usize, from: usize, section: &[u8]) {
        lock(&self.received[thread]).push((from, section.to_vec()));
    }

    pub(super) fn decide(&self, verdict: Verdict) {
        let number = match verdict {
            Verdict::Go { earliest_ns } => earliest_ns,
            Verdict::Stop => u64::MAX,
        };
        self.verdict.store(number, Ordering::Relaxed);
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.verdict.load(Ordering::Relaxed) {
            u64::MAX => Verdict::Stop,
            earliest_ns => Verdict::Go { earliest_ns },
        }
    }

    /// Records a message that cannot be read.
    pub(super) fn fail(&self, unreadable: (usize, Unreadable)) {
        lock(&self.unreadable).get_or_insert(unreadable);
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn unreadable(&self) -> Option<(usize, Unreadable)> {
        *lock(&self.unreadable)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
