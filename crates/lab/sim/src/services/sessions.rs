//! Sessions of a service node with other stores: their start and end, and the frames and messages they
//! transfer.

use bytes::Bytes;
use undertone_link::ConnIx;
use undertone_message::MessageLimits;
use undertone_services::sync::{SyncId, SyncStep, TransferMessage};

use crate::services::frames::StreamFrame;
use crate::services::io::ServiceAction;
use crate::services::server::{ClientLink, SimService};
use crate::world::World;

impl SimService {
    /// Begins the session that is due, and ends those whose other side does not respond.
    pub(super) fn sync_tick(&mut self, world: &World, now_ns: u64) {
        let silent = self.sync.as_mut().map(|sync| sync.silent(now_ns));
        for conn in silent.into_iter().flatten() {
            self.hang_up(conn);
        }
        let sync = self.sync.as_mut();
        match sync.and_then(|sync| sync.due(world, now_ns)) {
            None => {}
            Some((_, Some(conn))) => self.begin_session(world, now_ns, conn),
            Some((peer, None)) => {
                let conn = ConnIx(self.next_conn);
                self.next_conn += 1;
                if let Some(sync) = &mut self.sync {
                    sync.dial(now_ns, peer, conn);
                }
                self.actions.push_back(ServiceAction::Dial { peer, conn });
            }
        }
    }

    /// Handles a connection that another store has accepted.
    pub(super) fn accepted(
        &mut self,
        world: &World,
        now_ns: u64,
        peer: u32,
        (conn, remote_conn): (ConnIx, ConnIx),
    ) {
        let sync = self.sync.as_mut();
        if !sync.is_some_and(|sync| sync.accepted(peer, conn)) {
            // The dial has been given up in the meantime.
            return self.actions.push_back(ServiceAction::Close {
                client: peer,
                conn,
                remote_conn,
            });
        }
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

    /// Handles another store's refusal of a connection.
    pub(super) fn refused(&mut self, conn: ConnIx) {
        if let Some(sync) = &mut self.sync {
            sync.refused(conn);
        }
    }

    fn begin_session(&mut self, world: &World, now_ns: u64, conn: ConnIx) {
        if let Some(sync) = &mut self.sync {
            let (stream, payload) = sync.begin(now_ns, conn);
            self.counters.sync_sessions += 1;
            self.write_sync(world, conn, StreamFrame::reconcile(stream, payload));
        }
    }

    /// Handles a frame from another store.
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

    /// Stores a message that a session asked for.
    fn transferred(&mut self, world: &World, now_ns: u64, body: &Bytes) {
        let mut limits = MessageLimits::default();
        limits.max_message_bytes = world.scenario.relay.max_message_bytes;
        let (Some(sync), Ok(message)) = (&mut self.sync, TransferMessage::decode(body, &limits))
        else {
            return;
        };
        let stored = message.into_stored();
        // Two concurrent sessions may ask for the same message.
        let is_new = self.archive.get(stored.hash).is_none();
        if sync.transferred(&stored) && is_new {
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

    /// Closes a connection whose other end does not take its turn in a session.
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
