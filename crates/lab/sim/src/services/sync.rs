//! Synchronisation of the service nodes' archives: sessions between pairs of them, as in the `store-sync` of real
//! nodes.

use std::collections::{BTreeMap, BTreeSet};

use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_message::MessageHash;
use undertone_services::history::StoredMessage;
use undertone_services::sync::{Reconciler, SyncLimits, SyncScope, SyncSet, SyncStep};

use crate::seeds::SeededRng;
use crate::world::{UNIX_NS_AT_ZERO, World};

const S: u64 = 1_000_000_000;

/// Age range of the messages compared, the default of real nodes (`store-sync-range`).
const RANGE_NS: u64 = 3_600 * S;

/// Age below which messages are not compared, because they may still be in transit (`store-sync-relay-jitter`).
const RELAY_JITTER_NS: u64 = 20 * S;

/// Time limit for the other side's turn in a session.
const TURN_NS: u64 = 20 * S;

/// Time limit for establishing a connection.
const CONNECT_NS: u64 = 15 * S;

/// Synchronisation of one archive with those of other service nodes.
#[derive(Debug)]
pub(crate) struct StoreSync {
    node: u32,
    every_ns: u64,
    /// Time at which this node next initiates a session.
    next_ns: u64,
    set: SyncSet,
    /// Sessions by connection and stream.
    sessions: BTreeMap<(ConnIx, u32), SyncSession>,
    next_stream: u32,
    /// Store being dialled, its connection, and the time at which the dial is given up.
    dialling: Option<(u32, ConnIx, u64)>,
    /// Connections that this node has dialled, by store. This node initiates the sessions on them.
    dialled: BTreeMap<u32, ConnIx>,
    /// Messages that sessions have requested and that have not arrived.
    awaited: BTreeSet<MessageHash>,
    rng: SeededRng,
}

#[derive(Debug)]
struct SyncSession {
    reconciler: Reconciler,
    until_ns: u64,
}

impl StoreSync {
    /// Synchronisation of a node; `None` if the scenario has none, or no other store.
    pub(super) fn new(world: &World, node: u32) -> Option<Self> {
        let setup = world.scenario.services.as_ref()?;
        let every_ns = setup.sync_every_ns.filter(|_| setup.store)?;
        if setup.service_nodes < 2 {
            return None;
        }
        let mut rng = SeededRng::new(world.seed, "store sync", u64::from(node));
        Some(Self {
            node,
            every_ns,
            next_ns: world.starts_ns[node as usize] + 1 + rng.below(every_ns),
            set: SyncSet::new(&SyncLimits::default()),
            sessions: BTreeMap::new(),
            next_stream: 0,
            dialling: None,
            dialled: BTreeMap::new(),
            awaited: BTreeSet::new(),
            rng,
        })
    }

    /// Adds a message of the archive.
    pub(super) fn insert(&mut self, stored: &StoredMessage) {
        self.set.insert(
            stored.message.timestamp_ns(),
            stored.hash,
            stored.pubsub_topic.clone(),
            stored.message.content_topic.clone(),
        );
    }

    /// Time of the first timer, nanoseconds.
    pub(super) fn next_timeout(&self) -> Time {
        let turns = self.sessions.values().map(|session| session.until_ns);
        let dialling = self.dialling.iter().map(|(_, _, until_ns)| *until_ns);
        let first = turns.chain(dialling).fold(self.next_ns, u64::min);
        Time::from_nanos(first)
    }

    /// Drops the sessions of a closed connection.
    pub(super) fn closed(&mut self, conn: ConnIx) {
        self.sessions.retain(|(of, _), _| *of != conn);
        self.dialled.retain(|_, dialled| *dialled != conn);
    }

    /// Drops all state that a restart loses.
    pub(super) fn restart(&mut self) {
        self.sessions.clear();
        self.dialled.clear();
        self.awaited.clear();
        self.dialling = None;
    }

    /// Gives up a dial that takes too long, and returns the connections whose other end does not take its turn.
    pub(super) fn silent(&mut self, now_ns: u64) -> BTreeSet<ConnIx> {
        self.dialling = self.dialling.filter(|(_, _, until_ns)| now_ns < *until_ns);
        let sessions = self.sessions.iter();
        let silent = sessions.filter(|(_, session)| session.until_ns <= now_ns);
        silent.map(|((conn, _), _)| *conn).collect()
    }

    /// Returns the store for the session that is due, with the connection to it if there is one. A session is skipped
    /// while a dial is pending.
    pub(super) fn due(&mut self, world: &World, now_ns: u64) -> Option<(u32, Option<ConnIx>)> {
        if now_ns < self.next_ns {
            return None;
        }
        self.next_ns = now_ns + self.every_ns;
        if self.dialling.is_some() {
            return None;
        }
        let nodes = world.service_nodes();
        let others = u64::from(nodes.end - nodes.start) - 1;
        let peer = nodes.start + self.rng.below(others) as u32;
        let peer = peer + u32::from(peer >= self.node);
        Some((peer, self.dialled.get(&peer).copied()))
    }

    /// Records that a store is being dialled.
    pub(super) fn dial(&mut self, now_ns: u64, peer: u32, conn: ConnIx) {
        self.dialling = Some((peer, conn, now_ns + CONNECT_NS));
    }

    /// Records that a store has accepted a connection; returns whether it was expected.
    pub(super) fn accepted(&mut self, peer: u32, conn: ConnIx) -> bool {
        let is_awaited =
            matches!(self.dialling, Some((asked, dialled, _)) if (asked, dialled) == (peer, conn));
        if is_awaited {
            self.dialling = None;
            self.dialled.insert(peer, conn);
        }
        is_awaited
    }

    /// Records that a store has refused a connection.
    pub(super) fn refused(&mut self, conn: ConnIx) {
        self.dialling = self.dialling.filter(|(_, dialled, _)| *dialled != conn);
    }

    /// Begins a session on a connection; returns its stream and its first payload.
    pub(super) fn begin(&mut self, now_ns: u64, conn: ConnIx) -> (u32, Vec<u8>) {
        let stream = self.next_stream;
        self.next_stream += 1;
        let end_ns = now_ns.saturating_sub(RELAY_JITTER_NS);
        let start_ns = end_ns.saturating_sub(RANGE_NS);
        let (reconciler, payload) = Reconciler::initiate(
            &self.set,
            SyncScope::default(),
            unix_ns(start_ns),
            unix_ns(end_ns),
            SyncLimits::default(),
        );
        let session = SyncSession {
            reconciler,
            until_ns: now_ns + TURN_NS,
        };
        self.sessions.insert((conn, stream), session);
        (stream, payload)
    }

    /// Adds a message sent by another store; returns whether a session had requested it.
    pub(super) fn transferred(&mut self, stored: &StoredMessage) -> bool {
        let is_awaited = self.awaited.remove(&stored.hash);
        if is_awaited {
            self.insert(stored);
        }
        is_awaited
    }

    /// Handles a payload of a session; `None` if there is no such session or the payload is invalid.
    pub(super) fn reconcile(
        &mut self,
        now_ns: u64,
        (conn, stream): (ConnIx, u32),
        body: &[u8],
    ) -> Option<SyncStep> {
        let is_own = self.dialled.values().any(|dialled| *dialled == conn);
        if !is_own && !self.sessions.contains_key(&(conn, stream)) {
            let start_ns = unix_ns(now_ns.saturating_sub(RANGE_NS));
            let limits = SyncLimits::default();
            let reconciler = Reconciler::respond(SyncScope::default(), start_ns, limits);
            let until_ns = now_ns + TURN_NS;
            let session = SyncSession {
                reconciler,
                until_ns,
            };
            self.sessions.insert((conn, stream), session);
        }
        let session = self.sessions.get_mut(&(conn, stream))?;
        session.until_ns = now_ns + TURN_NS;
        let step = session.reconciler.handle(&self.set, body).ok();
        if step.as_ref().is_none_or(|step| step.is_last) {
            self.sessions.remove(&(conn, stream));
        }
        let step = step?;
        self.awaited
            .extend(step.to_receive.iter().map(|id| id.hash));
        Some(step)
    }
}

fn unix_ns(ns: u64) -> i64 {
    i64::try_from(UNIX_NS_AT_ZERO + ns).unwrap_or(i64::MAX)
}
