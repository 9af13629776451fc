//! Attackers among light clients: each floods one service node with requests.

use bytes::Bytes;
use undertone_message::WakuMessage;
use undertone_services::filter::{SubscribeKind, SubscribeRequest};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_MAX, PageDirection,
};
use undertone_services::light::ServicePeerFailure;
use undertone_services::lightpush::{LightpushRequest, PushVersion};
use undertone_services::sending::PushFailure;
use undertone_services::store::StoreRequest;

use crate::light::node::LightNode;
use crate::light::streams::{Asker, OpenStream};
use crate::light::{LightEvent, answers};
use crate::node::event::{Event, Step};
use crate::node::input::{UNCOUNTED, payload};
use crate::scenario::{FloodedService, RequestFlood};
use crate::services::frames::StreamService;

/// Content topics in a request of a flood, the maximum that a request may have.
const FLOOD_TOPICS: u64 = 100;

/// Payload of a message of a flood, bytes.
const FLOOD_PAYLOAD_BYTES: u32 = 1_000;

fn flood_of(step: &Step<'_>) -> Option<RequestFlood> {
    step.world.scenario.services.as_ref()?.flood
}

impl LightNode {
    /// Schedules the start of the flood.
    pub(super) fn start_flood(&mut self, step: &mut Step<'_>) {
        let Some(flood) = flood_of(step) else { return };
        let at_ns = flood.at_ns.max(step.now_ns);
        self.schedule_own(step, at_ns, Event::Light(LightEvent::Flood));
    }

    pub(super) fn flood(&mut self, step: &mut Step<'_>) {
        let Some(flood) = flood_of(step) else { return };
        if !self.floods || step.now_ns >= flood.at_ns.saturating_add(flood.for_ns) {
            return;
        }
        let next_ns = step.now_ns + flood.interval_ns.max(1);
        self.schedule_own(step, next_ns, Event::Light(LightEvent::Flood));
        if !self.connect(step, 0) {
            return;
        }
        let number = self.flooded;
        self.flooded += 1;
        let service = match flood.service {
            Some(FloodedService::Store) => StreamService::Store,
            Some(FloodedService::Filter) => StreamService::Filter,
            Some(FloodedService::Lightpush) => StreamService::Lightpush,
            None => StreamService::COUNTED[(number % 3) as usize],
        };
        let body = self.flood_request(step, service, number);
        self.ask(step, 0, Asker::Flood, service, body);
    }

    fn flood_request(&self, step: &Step<'_>, service: StreamService, number: u64) -> Bytes {
        let shard = step.world.shards[0].clone();
        let request_id = number.to_string();
        let request = match service {
            StreamService::Store => StoreRequest {
                request_id: request_id.into(),
                query: HistoryQuery {
                    include_data: true,
                    criteria: HistoryCriteria::Content(ContentCriteria::default()),
                    cursor: None,
                    direction: PageDirection::Backward,
                    limit: PAGE_MAX,
                },
            }
            .encode(),
            StreamService::Filter => SubscribeRequest {
                request_id,
                kind: SubscribeKind::Subscribe,
                pubsub_topic: Some(shard),
                content_topics: (0..FLOOD_TOPICS)
                    .map(|topic| format!("/flood/1/{number}-{topic}/proto").into())
                    .collect(),
            }
            .encode(),
            StreamService::Lightpush
            | StreamService::LegacyLightpush
            | StreamService::Metadata
            | StreamService::PeerExchange => {
                let payload = payload(UNCOUNTED, FLOOD_PAYLOAD_BYTES);
                let mut message = WakuMessage::new(payload, "/flood/1/message/proto");
                message.timestamp = i64::try_from(number).ok();
                LightpushRequest {
                    request_id,
                    pubsub_topic: Some(shard),
                    message,
                }
                .encode()
            }
        };
        request.into()
    }

    pub(super) fn flood_answered(&mut self, step: &mut Step<'_>, open: &OpenStream, body: &Bytes) {
        let refused = match open.service {
            StreamService::Store => {
                matches!(answers::history(body), Err(ServicePeerFailure::Busy { .. }))
            }
            StreamService::Filter => {
                matches!(answers::filter(body), Err(ServicePeerFailure::Busy { .. }))
            }
            StreamService::Lightpush
            | StreamService::LegacyLightpush
            | StreamService::Metadata
            | StreamService::PeerExchange => matches!(
                answers::push(PushVersion::V3, body),
                Err(PushFailure::Busy { .. } | PushFailure::ProofRefused)
            ),
        };
        self.count_answer(step, open, refused);
    }
}
