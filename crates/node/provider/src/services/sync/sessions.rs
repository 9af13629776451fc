//! Open sessions, and the admission of new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::select_all;
use libp2p::PeerId;
use parking_lot::Mutex;
use undertone_message::MessageHash;

use super::SyncFailure;
use super::expected::{Expectation, ExpectedMessages};
use super::settings::SyncBounds;
use super::terms::SessionTerms;

#[cfg(test)]
#[path = "tests/sessions.rs"]
mod tests;

/// Maximum number of peers whose recent sessions or faults are remembered.
const REMEMBERED_PEERS: usize = 1_024;

/// Period over which a peer's session starts are counted.
const COUNTED: Duration = Duration::from_secs(60);

/// Side that began a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionSide {
    /// This node began the session.
    Ours,
    /// The peer began the session.
    Theirs,
}

/// Sessions of all peers: at most one per peer and initiating side.
#[derive(Debug)]
pub(super) struct Sessions {
    own: PeerId,
    bounds: SyncBounds,
    /// Stores named by the operator. Strangers that occupy all places do not keep them out.
    named: BTreeSet<PeerId>,
    table: Mutex<SessionTable>,
}

#[derive(Debug, Default)]
struct SessionTable {
    open: Vec<(PeerId, SessionSide, Arc<ExpectedMessages>)>,
    /// Number of sessions that each peer has begun since the given instant.
    begun: BTreeMap<PeerId, (Instant, u32)>,
    /// Peers at fault, and the time until which each gets no session.
    banned: BTreeMap<PeerId, Instant>,
}

/// A session that is open until this value is dropped.
#[derive(Debug)]
pub(super) struct OpenSession {
    sessions: Arc<Sessions>,
    pub(super) peer: PeerId,
    pub(super) expected: Arc<ExpectedMessages>,
}

/// A peer's transfer stream that counts as open until this value is dropped.
#[derive(Debug)]
pub(super) struct OpenTransfer(Arc<ExpectedMessages>);

impl Drop for OpenTransfer {
    fn drop(&mut self) {
        self.0.close_stream();
    }
}

/// Whether a message of a peer is expected.
#[derive(Debug)]
pub(super) enum TransferClaim {
    /// A session expects the message.
    Wanted(Arc<ExpectedMessages>),
    /// The message was named, but is not wanted or has arrived before.
    Unwanted(Arc<ExpectedMessages>, Expectation),
    /// No session named the message.
    Unasked(Arc<ExpectedMessages>),
    /// The peer has no session.
    NoSession,
}

impl Sessions {
    pub(super) fn new(own: PeerId, bounds: SyncBounds, named: BTreeSet<PeerId>) -> Arc<Self> {
        Arc::new(Self {
            own,
            bounds,
            named,
            table: Mutex::default(),
        })
    }

    /// Opens a session.
    ///
    /// If both sides begin one at the same time, only that of the lesser identity proceeds.
    ///
    /// # Errors
    /// [`SyncFailure::Busy`] or [`SyncFailure::Banned`].
    pub(super) fn open(
        self: &Arc<Self>,
        peer: PeerId,
        side: SessionSide,
        terms: SessionTerms,
    ) -> Result<OpenSession, SyncFailure> {
        let mut table = self.table.lock();
        let now = Instant::now();
        table.banned.retain(|_, until| *until > now);
        if table.banned.contains_key(&peer) {
            return Err(SyncFailure::Banned);
        }
        let has = |side| table.open.iter().any(|one| (one.0, one.1) == (peer, side));
        match side {
            SessionSide::Ours if has(SessionSide::Ours) || has(SessionSide::Theirs) => {
                return Err(SyncFailure::Busy);
            }
            SessionSide::Theirs if has(SessionSide::Theirs) => return Err(SyncFailure::Busy),
            SessionSide::Theirs if has(SessionSide::Ours) && self.own < peer => {
                return Err(SyncFailure::Busy);
            }
            SessionSide::Ours => {}
            SessionSide::Theirs => {
                let is_strangers = |one: &&(PeerId, SessionSide, _)| {
                    one.1 == SessionSide::Theirs && !self.named.contains(&one.0)
                };
                let strangers = table.open.iter().filter(is_strangers).count();
                let is_full = strangers >= self.bounds.inbound_sessions;
                if is_full && !self.named.contains(&peer) {
                    return Err(SyncFailure::Busy);
                }
                if !table.count(peer, now, self.bounds.sessions_per_minute) {
                    return Err(SyncFailure::Banned);
                }
            }
        }
        let expected = ExpectedMessages::new(terms);
        table.open.push((peer, side, Arc::clone(&expected)));
        Ok(OpenSession {
            sessions: Arc::clone(self),
            peer,
            expected,
        })
    }

    /// Refuses a peer sessions for a while.
    pub(super) fn ban(&self, peer: PeerId) {
        let mut table = self.table.lock();
        if table.banned.len() >= REMEMBERED_PEERS {
            table.banned.pop_first();
        }
        let until = Instant::now() + self.bounds.banned;
        table.banned.insert(peer, until);
    }

    /// Whether a peer gets no session now.
    pub(super) fn is_banned(&self, peer: PeerId) -> bool {
        let table = self.table.lock();
        let until = table.banned.get(&peer);
        until.is_some_and(|until| *until > Instant::now())
    }

    /// Whether a session with the peer is open that the peer began.
    pub(super) fn has_theirs(&self, peer: PeerId) -> bool {
        let theirs = (peer, SessionSide::Theirs);
        let table = self.table.lock();
        table.open.iter().any(|one| (one.0, one.1) == theirs)
    }

    /// Returns the open sessions of a peer.
    pub(super) fn of(&self, peer: PeerId) -> Vec<Arc<ExpectedMessages>> {
        let table = self.table.lock();
        let of_peer = table.open.iter().filter(|one| one.0 == peer);
        of_peer.map(|one| Arc::clone(&one.2)).collect()
    }

    /// Admits a transfer stream of a peer; returns `None` if the peer has no session or enough streams.
    pub(super) fn open_transfer(&self, peer: PeerId) -> Option<OpenTransfer> {
        let max = self.bounds.streams;
        let sessions = self.of(peer);
        let session = sessions.into_iter().find(|one| one.open_stream(max))?;
        Some(OpenTransfer(session))
    }

    /// Claims a message that a peer has sent. Waits while the peer may still name messages, because a message may
    /// arrive before the payload that names it.
    pub(super) async fn claim(&self, peer: PeerId, hash: &MessageHash) -> TransferClaim {
        loop {
            let sessions = self.of(peer);
            let mut changes: Vec<_> = sessions.iter().map(|one| one.changes()).collect();
            let is_reconciling = sessions.iter().any(|one| one.is_reconciling());
            let mut unwanted = None;
            for session in &sessions {
                match session.take(hash) {
                    Some(Expectation::Wanted) => return TransferClaim::Wanted(session.clone()),
                    Some(other) => unwanted = Some((session.clone(), other)),
                    None => {}
                }
            }
            if let Some((session, expectation)) = unwanted {
                return TransferClaim::Unwanted(session, expectation);
            }
            let Some(session) = sessions.into_iter().next() else {
                return TransferClaim::NoSession;
            };
            if !is_reconciling {
                return TransferClaim::Unasked(session);
            }
            drop(session);
            // A session that has ended meanwhile no longer changes; the next iteration notices that.
            let _ = select_all(changes.iter_mut().map(|one| Box::pin(one.changed()))).await;
        }
    }
}

impl SessionTable {
    /// Counts the start of a peer's session; returns whether it is within `max` per minute.
    fn count(&mut self, peer: PeerId, now: Instant, max: u32) -> bool {
        if self.begun.len() >= REMEMBERED_PEERS {
            self.begun.retain(|_, (since, _)| *since + COUNTED > now);
            if self.begun.len() >= REMEMBERED_PEERS {
                self.begun.pop_first();
            }
        }
        let (since, count) = self.begun.entry(peer).or_insert((now, 0));
        if *since + COUNTED <= now {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= max
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let mut table = self.sessions.table.lock();
        let is_this = |one: &Arc<_>| Arc::ptr_eq(one, &self.expected);
        table.open.retain(|(_, _, one)| !is_this(one));
        drop(table);
        // Wakes tasks that wait for messages to be named; none will be.
        self.expected.finish_naming();
    }
}
