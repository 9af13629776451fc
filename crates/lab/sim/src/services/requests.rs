//! Requests of clients: answered with lies, as metadata, or by the service host.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_message::WakuMetadata;
use undertone_services::host::Input;

use crate::scenario::TroubleKind;
use crate::services::frames::{StreamFrame, StreamService};
use crate::services::server::{SimService, peer_no};
use crate::world::World;

impl SimService {
    /// Handles a frame from a client or another store.
    pub(super) fn frame(&mut self, world: &World, now: Time, conn: ConnIx, frame: &Bytes) {
        if self.is_away() {
            return;
        }
        let (Some(link), Some(frame)) = (self.links.get(&conn), StreamFrame::decode(frame)) else {
            return;
        };
        let client = link.client;
        let StreamFrame::Request {
            stream,
            service,
            body,
        } = frame
        else {
            // A lying node does not answer other stores.
            if !self.has(TroubleKind::Lies) {
                self.sync_frame(world, now.as_nanos(), conn, frame);
            }
            return;
        };
        if self.has(TroubleKind::Lies)
            && let Some(lie) = self.lie(world, service, &body)
        {
            return self.answer(world, (conn, stream, service), &lie);
        }
        let Some(protocol) = service.protocol() else {
            return self.send_metadata(world, now, (conn, stream), client);
        };
        self.counters.as_other_cluster += u64::from(self.has(TroubleKind::OtherCluster));
        let request = Input::Request {
            peer: peer_no(client),
            to: (conn, stream, service),
            protocol,
            bytes: body,
        };
        self.host.handle(now, request);
    }

    /// Sends a client the node's metadata, unless the client asks too often.
    fn send_metadata(
        &mut self,
        world: &World,
        now: Time,
        (conn, stream): (ConnIx, u32),
        client: u32,
    ) {
        if !self.metadata.may_answer(now, client) {
            return;
        }
        let ours = WakuMetadata {
            cluster_id: Some(u32::from(self.present_cluster())),
            shards: (0..world.topics.len() as u32).collect(),
        };
        // If there are more shards than metadata can name, there is no answer.
        if let Ok(body) = ours.encode() {
            self.counters.metadata_answers += 1;
            self.answer(
                world,
                (conn, stream, StreamService::Metadata),
                &Bytes::from(body),
            );
        }
    }
}
