//! Connections to one peer: which of them carries the frames, and when a new session begins.
//!
//! The newest connection becomes the carrier once the peer has accepted a stream on it, because an older one may be
//! dead without having been closed. A peer that dials a second time has lost its first connection, and with it all that
//! it knew of this node, so a new session begins. Two nodes that dial each other at the same moment have two
//! connections and one session.
//!
//! A direct connection is preferred to a relayed one. The relayed one is retired once the direct one carries frames in
//! both directions. It is still read from for a while, because frames that the peer sent before it switched are still
//! on their way through the relay.

use libp2p::core::ConnectedPoint;
use libp2p::swarm::{ConnectionId, StreamProtocol};

/// A step for the behaviour; steps are carried out in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStep {
    /// A session begins on this connection.
    Opened(ConnectionId),
    /// Frames of the session now use another stream, on this connection.
    Renewed(ConnectionId),
    /// The session has ended.
    Closed,
    /// Tell the connection to read frames.
    Read(ConnectionId),
    /// Tell the connection whether to open a stream to the peer.
    Write(ConnectionId, bool),
    /// Tell the connection to read what is in transit and then close.
    Retire(ConnectionId),
    /// Tell the swarm to close the connection.
    Close(ConnectionId),
}

/// State of one connection to the peer.
#[derive(Debug)]
pub(crate) struct PubsubConnection {
    id: ConnectionId,
    pub(crate) endpoint: ConnectedPoint,
    /// Protocol last negotiated on the connection.
    pub(crate) protocol: Option<StreamProtocol>,
    /// Whether the peer has opened a stream.
    heard: bool,
    /// Whether the peer has accepted a stream that is still open.
    writable: bool,
    /// Whether the connection was told to open a stream.
    may_write: bool,
    /// Whether the peer refuses streams of our protocols.
    unsupported: bool,
}

/// Connections to one peer, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Session {
    connections: Vec<PubsubConnection>,
    /// Connections told to close soon, which no longer belong to the session.
    retired: Vec<ConnectionId>,
    carrier: Option<ConnectionId>,
    opened: bool,
    /// Whether any connection has carried frames in this session.
    written: bool,
}

impl Session {
    /// Returns the connection that carries frames to the peer.
    pub(crate) fn carrier(&self) -> Option<ConnectionId> {
        self.carrier
    }

    pub(crate) fn connection(&self, id: ConnectionId) -> Option<&PubsubConnection> {
        self.connections.iter().find(|known| known.id == id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    fn get_mut(&mut self, id: ConnectionId) -> Option<&mut PubsubConnection> {
        self.connections.iter_mut().find(|known| known.id == id)
    }

    pub(crate) fn established(
        &mut self,
        id: ConnectionId,
        endpoint: ConnectedPoint,
    ) -> Vec<SessionStep> {
        self.connections.push(PubsubConnection {
            id,
            endpoint,
            protocol: None,
            heard: false,
            writable: false,
            may_write: false,
            unsupported: false,
        });
        self.choose_writer()
    }

    /// Handles a stream opened by the peer on a connection.
    pub(crate) fn heard(&mut self, id: ConnectionId, protocol: StreamProtocol) -> Vec<SessionStep> {
        let Some(connection) = self.get_mut(id) else {
            return Vec::new();
        };
        connection.protocol = Some(protocol);
        let again = std::mem::replace(&mut connection.heard, true);
        if !std::mem::replace(&mut self.opened, true) {
            return vec![SessionStep::Opened(id), SessionStep::Read(id)];
        }
        if again {
            return vec![SessionStep::Renewed(id)];
        }
        let mut steps = self.replace_session(id);
        steps.push(SessionStep::Read(id));
        steps.extend(self.retire_relayed());
        steps
    }

    /// Ends the session and begins a new one if the peer has dialled again.
    fn replace_session(&mut self, newer: ConnectionId) -> Vec<SessionStep> {
        let dialled_by_peer =
            |known: &PubsubConnection| known.endpoint.is_listener() && known.heard;
        if !self.connection(newer).is_some_and(dialled_by_peer) {
            return Vec::new();
        }
        let replaced = |known: &mut PubsubConnection| known.id < newer && dialled_by_peer(known);
        let older: Vec<_> = self.connections.extract_if(.., replaced).collect();
        if older.is_empty() {
            return Vec::new();
        }
        let mut steps: Vec<_> = older.iter().map(|known| self.give_up(known)).collect();
        self.written = false;
        steps.extend(self.choose_writer());
        steps.extend([SessionStep::Closed, SessionStep::Opened(newer)]);
        steps.extend(self.choose_carrier());
        steps
    }

    /// Handles the peer's acceptance of a stream on a connection.
    pub(crate) fn writable(
        &mut self,
        id: ConnectionId,
        protocol: StreamProtocol,
    ) -> Vec<SessionStep> {
        let Some(connection) = self.get_mut(id) else {
            return Vec::new();
        };
        connection.protocol = Some(protocol);
        connection.writable = true;
        let mut steps = Vec::new();
        if !std::mem::replace(&mut self.opened, true) {
            steps.extend([SessionStep::Opened(id), SessionStep::Read(id)]);
        }
        steps.extend(self.choose_carrier());
        steps.extend(self.retire_relayed());
        steps
    }

    /// Handles the end of the stream to the peer on a connection.
    pub(crate) fn unwritable(&mut self, id: ConnectionId) -> Option<SessionStep> {
        if let Some(connection) = self.get_mut(id) {
            connection.writable = false;
        }
        self.choose_carrier()
    }

    /// Handles the peer's refusal of streams on this connection.
    pub(crate) fn unsupported(&mut self, id: ConnectionId) -> Vec<SessionStep> {
        if let Some(connection) = self.get_mut(id) {
            connection.unsupported = true;
        }
        self.choose_writer()
    }

    pub(crate) fn closed(&mut self, id: ConnectionId) -> Vec<SessionStep> {
        self.retired.retain(|retired| *retired != id);
        let before = self.connections.len();
        self.connections.retain(|known| known.id != id);
        if self.connections.len() == before {
            return Vec::new();
        }
        if self.connections.is_empty() {
            self.carrier = None;
            let ended = self.opened.then_some(SessionStep::Closed);
            let retired = std::mem::take(&mut self.retired);
            let closed = retired.into_iter().map(SessionStep::Close);
            return ended.into_iter().chain(closed).collect();
        }
        let mut steps = self.choose_writer();
        steps.extend(self.choose_carrier());
        steps
    }

    /// Lets only the newest connection open streams to the peer: some implementations allow one stream per
    /// peer and reset the older one.
    fn choose_writer(&mut self) -> Vec<SessionStep> {
        let newest = self.best(|known| !known.unsupported);
        let mut steps = Vec::new();
        for known in &mut self.connections {
            let may_write = Some(known.id) == newest;
            if known.may_write != may_write {
                known.may_write = may_write;
                steps.push(SessionStep::Write(known.id, may_write));
            }
        }
        steps
    }

    /// Returns the newest of the matching connections, preferably a direct one.
    fn best(&self, fits: impl Fn(&PubsubConnection) -> bool) -> Option<ConnectionId> {
        let fitting = self.connections.iter().filter(|known| fits(known));
        let best = fitting.max_by_key(|known| (!known.endpoint.is_relayed(), known.id));
        best.map(|known| known.id)
    }

    /// Gives up relayed connections if a direct one carries frames in both directions.
    fn retire_relayed(&mut self) -> Vec<SessionStep> {
        let carries = |known: &PubsubConnection| {
            !known.endpoint.is_relayed() && known.heard && known.writable
        };
        if !self.connections.iter().any(carries) {
            return Vec::new();
        }
        let relayed = |known: &mut PubsubConnection| known.endpoint.is_relayed();
        let given_up: Vec<_> = self.connections.extract_if(.., relayed).collect();
        given_up.iter().map(|known| self.give_up(known)).collect()
    }

    /// Gives up a connection. A relayed one is retired, because a peer leaves it while it still works. A direct one is
    /// closed, because a peer leaves it only when it is dead.
    fn give_up(&mut self, connection: &PubsubConnection) -> SessionStep {
        if !connection.endpoint.is_relayed() {
            return SessionStep::Close(connection.id);
        }
        self.retired.push(connection.id);
        SessionStep::Retire(connection.id)
    }

    fn choose_carrier(&mut self) -> Option<SessionStep> {
        let carrier = self.best(|known| known.writable);
        if self.carrier == carrier {
            return None;
        }
        self.carrier = carrier;
        let id = carrier?;
        let renewed = std::mem::replace(&mut self.written, true);
        renewed.then_some(SessionStep::Renewed(id))
    }
}

#[cfg(test)]
#[path = "tests/session.rs"]
mod tests;
