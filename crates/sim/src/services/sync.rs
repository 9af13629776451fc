//! Synchronisation of the archives of service nodes: sessions with one another, as `store-sync` of real nodes has them.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_message::{MessageHash, MessageLimits};
use undertone_services::history::StoredMessage;
use undertone_services::sync::{
    Reconciler, SyncId, SyncLimits, SyncScope, SyncSet, SyncStep, TransferMessage,
};

use crate::seeds::SeededRng;
use crate::services::frames::StreamFrame;
use crate::services::io::ServiceAction;
use crate::services::server::{ClientLink, SimService};
use crate::world::{UNIX_NS_AT_ZERO, World};

const S: u64 = 1_000_000_000;

/// Time of which the messages are compared, as by default of real nodes (`store-sync-range`).
const RANGE_NS: u64 = 3_600 * S;

/// Youngest messages, which are not compared because they may still be on their way (`store-sync-relay-jitter`).
const RELAY_JITTER_NS: u64 = 20 * S;

/// Time for the other side's turn in a session.
const TURN_NS: u64 = 20 * S;

/// Time for a connection.
const CONNECT_NS: u64 = 15 * S;

/// Synchronisation of one archive with those of other service nodes.
#[derive(Debug)]
pub(crate) struct StoreSync {
    node: u32,
    every_ns: u64,
    /// Time of the next session of this node's own.
    next_ns: u64,
    set: SyncSet,
    /// Sessions by connection and stream.
    sessions: BTreeMap<(ConnIx, u32), SyncSession>,
    next_stream: u32,
    /// Store that is being dialled, with the connection, and when that is given up.
    dialling: Option<(u32, ConnIx, u64)>,
    /// Connections that this node has dialled, by store. Sessions on them are its own.
    dialled: BTreeMap<u32, ConnIx>,
    /// Messages that sessions have named and that have not come.
    awaited: BTreeSet<MessageHash>,
    rng: SeededRng,
}

#[derive(Debug)]
struct SyncSession {
    reconciler: Reconciler,
    until_ns: u64,
}

impl StoreSync {
    /// Synchronisation of a node; `None` if the scenario has none, or nobody to synchronise with.
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
            next_ns: rng.below(every_ns),
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

    /// Forgets the sessions of a connection that is closed.
    pub(super) fn closed(&mut self, conn: ConnIx) {
        self.sessions.retain(|(of, _), _| *of != conn);
        self.dialled.retain(|_, dialled| *dialled != conn);
    }

    /// Forgets what a new process does not know.
    pub(super) fn restart(&mut self) {
        self.sessions.clear();
        self.dialled.clear();
        self.awaited.clear();
        self.dialling = None;
    }

    /// Returns another service node, with the connection to it if there is one.
    fn choose(&mut self, world: &World) -> (u32, Option<ConnIx>) {
        let nodes = world.service_nodes();
        let others = u64::from(nodes.end - nodes.start) - 1;
        let peer = nodes.start + self.rng.below(others) as u32;
        let peer = peer + u32::from(peer >= self.node);
        (peer, self.dialled.get(&peer).copied())
    }

    /// Takes a payload of a session; `None` if the session is over or was none.
    fn reconcile(
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

impl SimService {
    /// Begins the session that is due, and ends those whose other side is silent.
    pub(super) fn sync_tick(&mut self, world: &World, now_ns: u64) {
        let Some(sync) = &mut self.sync else {
            return;
        };
        let silent = |session: &&SyncSession| session.until_ns <= now_ns;
        let sessions = sync.sessions.iter();
        let silent = sessions.filter(|(_, session)| silent(session));
        let silent: BTreeSet<ConnIx> = silent.map(|((conn, _), _)| *conn).collect();
        if sync.dialling.is_some_and(|(_, _, until)| until <= now_ns) {
            sync.dialling = None;
        }
        for conn in silent {
            self.hang_up(conn);
        }
        let Some(sync) = &mut self.sync else {
            return;
        };
        if now_ns < sync.next_ns {
            return;
        }
        sync.next_ns = now_ns + sync.every_ns;
        if sync.dialling.is_some() {
            return;
        }
        match sync.choose(world) {
            (_, Some(conn)) => self.begin_session(world, now_ns, conn),
            (peer, None) => {
                let conn = ConnIx(self.next_conn);
                self.next_conn += 1;
                sync.dialling = Some((peer, conn, now_ns + CONNECT_NS));
                self.actions.push_back(ServiceAction::Dial { peer, conn });
            }
        }
    }

    /// Takes a connection that another store has accepted.
    pub(super) fn accepted(
        &mut self,
        world: &World,
        now_ns: u64,
        peer: u32,
        (conn, remote_conn): (ConnIx, ConnIx),
    ) {
        let sync = self.sync.as_mut();
        let is_awaited = |sync: &&mut StoreSync| {
            let (asked, dialled) = (peer, conn);
            matches!(sync.dialling, Some((peer, conn, _)) if (peer, conn) == (asked, dialled))
        };
        let Some(sync) = sync.filter(is_awaited) else {
            // Too late.
            return self.actions.push_back(ServiceAction::Close {
                client: peer,
                conn,
                remote_conn,
            });
        };
        sync.dialling = None;
        sync.dialled.insert(peer, conn);
        let link = ClientLink {
            client: peer,
            remote_conn,
            pushes: false,
        };
        self.links.insert(conn, link);
        self.actions.push_back(ServiceAction::Connect {
            peer,
            conn,
            remote_conn,
        });
        self.begin_session(world, now_ns, conn);
    }

    /// Learns that another store has refused a connection.
    pub(super) fn refused(&mut self, conn: ConnIx) {
        if let Some(sync) = &mut self.sync
            && sync.dialling.is_some_and(|(_, dialled, _)| dialled == conn)
        {
            sync.dialling = None;
        }
    }

    fn begin_session(&mut self, world: &World, now_ns: u64, conn: ConnIx) {
        let Some(sync) = &mut self.sync else {
            return;
        };
        let stream = sync.next_stream;
        sync.next_stream += 1;
        let end_ns = now_ns.saturating_sub(RELAY_JITTER_NS);
        let start_ns = end_ns.saturating_sub(RANGE_NS);
        let (reconciler, payload) = Reconciler::initiate(
            &sync.set,
            SyncScope::default(),
            unix_ns(start_ns),
            unix_ns(end_ns),
            SyncLimits::default(),
        );
        let session = SyncSession {
            reconciler,
            until_ns: now_ns + TURN_NS,
        };
        sync.sessions.insert((conn, stream), session);
        self.counters.sync_sessions += 1;
        self.write_sync(world, conn, StreamFrame::reconcile(stream, payload));
    }

    /// Takes a frame of another store.
    pub(super) fn sync_frame(
        &mut self,
        world: &World,
        now_ns: u64,
        conn: ConnIx,
        frame: StreamFrame,
    ) {
        match frame {
            StreamFrame::Reconcile { stream, body } => {
                let sync = self.sync.as_mut();
                let step = sync.and_then(|sync| sync.reconcile(now_ns, (conn, stream), &body));
                if let Some(step) = step {
                    self.answer_session(world, (conn, stream), step);
                }
            }
            StreamFrame::Transfer { body } => self.transferred(world, now_ns, &body),
            _ => {}
        }
    }

    fn answer_session(&mut self, world: &World, (conn, stream): (ConnIx, u32), step: SyncStep) {
        if let Some(reply) = step.reply {
            self.write_sync(world, conn, StreamFrame::reconcile(stream, reply));
        }
        for SyncId { hash, .. } in step.to_send {
            let Some(stored) = self.archive.get(hash) else {
                continue;
            };
            let message = TransferMessage {
                pubsub_topic: stored.pubsub_topic.clone(),
                message: stored.message.clone(),
            };
            let body = Bytes::from(message.encode());
            self.write_sync(world, conn, StreamFrame::Transfer { body });
        }
    }

    /// Keeps a message that a session has named.
    fn transferred(&mut self, world: &World, now_ns: u64, body: &Bytes) {
        let mut limits = MessageLimits::default();
        limits.max_message_bytes = world.scenario.relay.max_message_bytes;
        let (Some(sync), Ok(message)) = (&mut self.sync, TransferMessage::decode(body, &limits))
        else {
            return;
        };
        let stored = message.into_stored();
        if sync.awaited.remove(&stored.hash) {
            sync.insert(&stored);
            self.counters.sync_received += 1;
            self.archive.keep(now_ns, stored);
        }
    }

    fn write_sync(&mut self, world: &World, conn: ConnIx, frame: StreamFrame) {
        let Some(link) = self.links.get(&conn) else {
            return;
        };
        let bytes = frame.sync_bytes(world.scenario.network.mux_overhead_bytes);
        self.counters.sync_sent_bytes += bytes;
        self.actions.push_back(ServiceAction::Write {
            conn,
            client: link.client,
            frame: frame.encode(),
            bytes,
            is_push: false,
        });
    }

    /// Closes a connection whose other end does not take its turn.
    fn hang_up(&mut self, conn: ConnIx) {
        if let Some(sync) = &mut self.sync {
            sync.closed(conn);
        }
        if let Some(link) = self.links.remove(&conn) {
            if self.newest.get(&link.client) == Some(&conn) {
                self.newest.remove(&link.client);
            }
            self.actions.push_back(ServiceAction::Close {
                client: link.client,
                conn,
                remote_conn: link.remote_conn,
            });
        }
    }
}

fn unix_ns(ns: u64) -> i64 {
    i64::try_from(UNIX_NS_AT_ZERO + ns).unwrap_or(i64::MAX)
}
