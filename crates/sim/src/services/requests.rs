//! Requests of clients: to which machine they go, and which of them a limit refuses.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_message::WakuMetadata;
use undertone_services::RequestNo;
use undertone_services::lightpush::{self, PushVersion};
use undertone_services::{filter, peer_exchange, store};

use crate::scenario::TroubleKind;
use crate::services::frames::{StreamFrame, StreamService};
use crate::services::server::{SimService, peer_no};
use crate::world::World;

impl SimService {
    /// Takes a frame of a client, or of another store.
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
            // Who lies keeps other stores waiting.
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
        if service == StreamService::Metadata {
            return self.tell_metadata(world, now, (conn, stream), client);
        }
        self.counters.as_other_cluster += u64::from(self.has(TroubleKind::OtherCluster));
        let request = RequestNo(self.next_request);
        self.next_request += 1;
        self.waiting.insert(request, (conn, stream, service));
        let is_allowed = self.allows(now, client, service);
        self.request(world, now, (client, request, service), is_allowed, body);
    }

    /// Counts a request, and returns whether the limit of its service allows it.
    fn allows(&mut self, now: Time, client: u32, service: StreamService) -> bool {
        let peer = peer_no(client);
        let Some(at) = service.counted() else {
            return self.exchange_limiter.allow(now, peer);
        };
        self.counters.requests[at] += 1;
        let is_allowed = self.limiters[at].allow(now, peer);
        self.counters.refused[at] += u64::from(!is_allowed);
        is_allowed
    }

    /// Gives a request to its machine.
    fn request(
        &mut self,
        world: &World,
        now: Time,
        (client, request, service): (u32, RequestNo, StreamService),
        is_allowed: bool,
        bytes: Bytes,
    ) {
        let peer = peer_no(client);
        match service {
            StreamService::Store => {
                let input = match is_allowed {
                    true => store::server::Input::Request {
                        peer,
                        request,
                        bytes,
                    },
                    false => store::server::Input::TooMany { request },
                };
                self.store.handle(now, input);
            }
            StreamService::Filter => {
                let input = match is_allowed {
                    true => filter::Input::Request {
                        peer,
                        request,
                        bytes,
                    },
                    false => filter::Input::TooMany { request },
                };
                self.filter.handle(now, input);
            }
            StreamService::Lightpush | StreamService::LegacyLightpush => {
                let version = match service {
                    StreamService::LegacyLightpush => PushVersion::V2,
                    _ => PushVersion::V3,
                };
                let input = match is_allowed {
                    true => lightpush::Input::Request {
                        peer,
                        request,
                        version,
                        bytes,
                    },
                    false => lightpush::Input::TooMany { request, version },
                };
                self.lightpush.handle(now, input);
            }
            StreamService::PeerExchange => {
                let input = match is_allowed {
                    true => peer_exchange::Input::Request { request, bytes },
                    false => peer_exchange::Input::TooMany { request },
                };
                self.exchange.handle(now, input);
                self.answer_exchange(world);
            }
            // Answered without a machine that would hold it.
            StreamService::Metadata => {}
        }
    }

    /// Tells a client which network the node belongs to, unless the client asks too often.
    fn tell_metadata(
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
        // A network with more shards than metadata can name is answered with silence.
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
