//! Server of lightpush, without input or output of its own.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::{
    codec::{LightpushRequest, LightpushResponse, LightpushStatus},
    io::{Input, LightpushLimits, LightpushStats, LightpushUsage, Output},
    legacy::{LegacyRequest, LegacyResponse},
    refusal::{LightpushRefusal, PublishRefusal},
    version::PushVersion,
};
use crate::{
    PeerNo, RequestNo,
    rpc::{RpcFrameError, UNKNOWN_REQUEST_ID, request_id_in},
    sharding::Sharding,
};

#[cfg(test)]
mod tests;

/// Server of lightpush, both versions: call [`handle`](Self::handle), drain [`poll`](Self::poll), then
/// wait until [`next_timeout`](Self::next_timeout) or the next input.
#[derive(Debug)]
pub struct LightpushServer {
    limits: LightpushLimits,
    sharding: Sharding,
    /// Messages being published, by number; later ones have later deadlines.
    publishing: BTreeMap<RequestNo, PublishInFlight>,
    /// Number of messages of each peer being published.
    peers: BTreeMap<PeerNo, usize>,
    publishing_bytes: usize,
    next_publish: u64,
    outputs: VecDeque<Output>,
    stats: LightpushStats,
}

/// Message being published.
#[derive(Debug)]
struct PublishInFlight {
    peer: PeerNo,
    /// How to answer; `None` when the peer is gone.
    answer: Option<AnswerAddress>,
    bytes: usize,
    deadline: Time,
}

/// Address of an answer.
#[derive(Debug)]
struct AnswerAddress {
    request: RequestNo,
    version: PushVersion,
    request_id: String,
}

impl LightpushServer {
    /// Creates a server of a network.
    pub fn new(sharding: Sharding, limits: LightpushLimits) -> Self {
        Self {
            limits,
            sharding,
            publishing: BTreeMap::new(),
            peers: BTreeMap::new(),
            publishing_bytes: 0,
            next_publish: 0,
            outputs: VecDeque::new(),
            stats: LightpushStats::default(),
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.expire(now);
        match input {
            Input::Request {
                peer,
                request,
                version,
                bytes,
            } => {
                self.stats.requests += 1;
                self.request(now, peer, request, version, &bytes);
            }
            Input::TooMany { request, version } => {
                self.stats.requests += 1;
                let answer = AnswerAddress {
                    request,
                    version,
                    request_id: UNKNOWN_REQUEST_ID.to_owned(),
                };
                self.respond(answer, Err(LightpushRefusal::TooManyRequests));
            }
            Input::Published { publish, outcome } => self.published(publish, outcome),
            Input::PeerGone(peer) => {
                if self.peers.contains_key(&peer) {
                    let of_peer = self.publishing.values_mut().filter(|p| p.peer == peer);
                    of_peer.for_each(|publishing| publishing.answer = None);
                }
            }
            Input::Tick => {}
        }
    }

    /// Takes the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns when [`Input::Tick`] is due; `None` if never.
    pub fn next_timeout(&self) -> Option<Time> {
        let (_, first) = self.publishing.first_key_value()?;
        Some(first.deadline)
    }

    /// Returns counts of what the server did.
    pub fn stats(&self) -> LightpushStats {
        self.stats
    }

    /// Returns the amounts that the server holds.
    pub fn usage(&self) -> LightpushUsage {
        LightpushUsage {
            publishing: self.publishing.len(),
            peers: self.peers.len(),
            publishing_bytes: self.publishing_bytes,
        }
    }

    fn request(
        &mut self,
        now: Time,
        peer: PeerNo,
        request: RequestNo,
        version: PushVersion,
        bytes: &[u8],
    ) {
        let codec = &self.limits.codec;
        let decoded = match version {
            PushVersion::V3 => LightpushRequest::decode(bytes, codec),
            PushVersion::V2 => LegacyRequest::decode(bytes, codec).map(|legacy| LightpushRequest {
                request_id: legacy.request_id,
                pubsub_topic: legacy.pubsub_topic,
                message: legacy.message,
            }),
        };
        let request_id = match &decoded {
            Ok(request) => &request.request_id,
            Err(_) => request_id_in(bytes, &codec.texts).unwrap_or(UNKNOWN_REQUEST_ID),
        };
        let answer = AnswerAddress {
            request,
            version,
            request_id: request_id.to_owned(),
        };
        match self.admit(peer, decoded) {
            Ok((pubsub_topic, message)) => self.publish(now, peer, answer, pubsub_topic, message),
            Err(refusal) => self.respond(answer, Err(refusal)),
        }
    }

    /// Returns the topic and message of a request that may be published.
    fn admit(
        &self,
        peer: PeerNo,
        request: Result<LightpushRequest, RpcFrameError>,
    ) -> Result<(Arc<str>, WakuMessage), LightpushRefusal> {
        let LightpushRequest {
            pubsub_topic,
            message,
            ..
        } = request?;
        let topic = match pubsub_topic {
            Some(topic) => self.sharding.check(&topic).map(|()| topic),
            None => self.sharding.derive(&message.content_topic),
        };
        let topic = topic.map_err(LightpushRefusal::Sharding)?;
        let of_peer = self.peers.get(&peer).copied().unwrap_or(0);
        if of_peer >= self.limits.max_publishing_per_peer {
            return Err(LightpushRefusal::PeerBusy);
        }
        let bytes = self.publishing_bytes + message.encoded_len();
        let full = self.publishing.len() >= self.limits.max_publishing
            || bytes > self.limits.max_publishing_bytes;
        if full {
            Err(LightpushRefusal::Busy)
        } else {
            Ok((topic, message))
        }
    }

    fn publish(
        &mut self,
        now: Time,
        peer: PeerNo,
        answer: AnswerAddress,
        pubsub_topic: Arc<str>,
        message: WakuMessage,
    ) {
        self.next_publish += 1;
        let publish = RequestNo(self.next_publish);
        let publishing = PublishInFlight {
            peer,
            answer: Some(answer),
            bytes: message.encoded_len(),
            deadline: now.after(self.limits.publish_timeout),
        };
        self.publishing_bytes += publishing.bytes;
        *self.peers.entry(peer).or_default() += 1;
        self.publishing.insert(publish, publishing);
        self.outputs.push_back(Output::Publish {
            publish,
            pubsub_topic,
            message,
        });
    }

    fn published(&mut self, publish: RequestNo, outcome: Result<u32, PublishRefusal>) {
        let Some(publishing) = self.publishing.remove(&publish) else {
            return; // timed out before
        };
        self.publishing_bytes -= publishing.bytes;
        if let Some(count) = self.peers.get_mut(&publishing.peer) {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&publishing.peer);
            }
        }
        let outcome = match outcome {
            Ok(0) => Err(PublishRefusal::NoPeers),
            outcome => outcome,
        };
        match publishing.answer {
            Some(answer) => self.respond(answer, outcome.map_err(LightpushRefusal::Publish)),
            None => self.count(outcome.is_ok()),
        }
    }

    fn expire(&mut self, now: Time) {
        while let Some((&publish, first)) = self.publishing.first_key_value()
            && first.deadline <= now
        {
            self.published(publish, Err(PublishRefusal::TimedOut));
        }
    }

    fn count(&mut self, is_published: bool) {
        if is_published {
            self.stats.published += 1;
        } else {
            self.stats.refused += 1;
        }
    }

    fn respond(&mut self, answer: AnswerAddress, outcome: Result<u32, LightpushRefusal>) {
        self.count(outcome.is_ok());
        let AnswerAddress {
            request,
            version,
            request_id,
        } = answer;
        let bytes = match version {
            PushVersion::V3 => response(request_id, outcome).encode(),
            PushVersion::V2 => legacy_response(request_id, outcome).encode(),
        };
        let bytes = bytes.into();
        self.outputs.push_back(Output::Respond { request, bytes });
    }
}

fn response(request_id: String, outcome: Result<u32, LightpushRefusal>) -> LightpushResponse {
    match outcome {
        Ok(peers) => LightpushResponse {
            request_id,
            status: LightpushStatus::OK,
            status_desc: None,
            relay_peer_count: Some(peers),
        },
        Err(refusal) => LightpushResponse {
            request_id,
            status: refusal.status(),
            status_desc: Some(refusal.text(PushVersion::V3)),
            relay_peer_count: None,
        },
    }
}

fn legacy_response(request_id: String, outcome: Result<u32, LightpushRefusal>) -> LegacyResponse {
    LegacyResponse {
        request_id,
        is_success: outcome.is_ok(),
        info: Some(match outcome {
            Ok(_) => "OK".to_owned(),
            Err(refusal) => refusal.text(PushVersion::V2),
        }),
    }
}
