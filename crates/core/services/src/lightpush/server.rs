//! Sans-I/O server of lightpush.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
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
    turns::Turns,
};

#[cfg(test)]
mod tests;

/// Time for which a peer that sent a forged proof is blamed: its messages are published after those of all others.
const BLAMED_FOR: Duration = Duration::from_secs(60);

/// Maximum number of blamed peers. Beyond it the one with the lowest number is forgotten.
const BLAMED_MAX: usize = 4_096;

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
    /// Messages that wait for the relay.
    turns: Turns,
    /// Messages of blamed peers. They go to the relay one at a time, and only while no others wait.
    behind: Turns,
    /// Peers that sent a forged proof, each with the time until which it is blamed.
    blamed: BTreeMap<PeerNo, Time>,
    next_publish: u64,
    outputs: VecDeque<Output>,
    stats: LightpushStats,
}

/// Message being published.
#[derive(Debug)]
struct PublishInFlight {
    peer: PeerNo,
    /// Where to send the answer; `None` when the peer is gone.
    answer: Option<AnswerAddress>,
    bytes: usize,
    deadline: Time,
    /// Topic and message until they go to the relay.
    waiting: Option<(Arc<str>, WakuMessage)>,
    is_behind: bool,
}

/// Address of an answer.
#[derive(Debug)]
struct AnswerAddress {
    request: RequestNo,
    version: PushVersion,
    request_id: String,
}

impl LightpushServer {
    /// Creates a server for a network.
    pub fn new(sharding: Sharding, limits: LightpushLimits) -> Self {
        Self {
            limits,
            sharding,
            publishing: BTreeMap::new(),
            peers: BTreeMap::new(),
            publishing_bytes: 0,
            turns: Turns::default(),
            behind: Turns::default(),
            blamed: BTreeMap::new(),
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
            Input::Published { publish, outcome } => self.published(now, publish, outcome),
            Input::PeerGone(peer) => {
                if self.peers.contains_key(&peer) {
                    let of_peer = self.publishing.values_mut().filter(|p| p.peer == peer);
                    of_peer.for_each(|publishing| publishing.answer = None);
                }
            }
            Input::Tick => {}
        }
        self.hand_out();
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

    /// Returns the server's counters.
    pub fn stats(&self) -> LightpushStats {
        self.stats
    }

    /// Returns the server's current resource usage.
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
        match self.admit(now, peer, decoded) {
            Ok((pubsub_topic, message)) => self.publish(now, peer, answer, pubsub_topic, message),
            Err(refusal) => self.respond(answer, Err(refusal)),
        }
    }

    /// Returns the topic and message of a request if it may be published.
    fn admit(
        &mut self,
        now: Time,
        peer: PeerNo,
        request: Result<LightpushRequest, RpcFrameError>,
    ) -> Result<(Arc<str>, WakuMessage), LightpushRefusal> {
        let LightpushRequest {
            pubsub_topic,
            message,
            ..
        } = request?;
        let topic = match pubsub_topic {
            // The relay knows which topics it carries.
            Some(topic) => Ok(topic),
            None => self.sharding.derive(&message.content_topic),
        };
        let topic = topic.map_err(LightpushRefusal::Sharding)?;
        let of_peer = self.peers.get(&peer).copied().unwrap_or(0);
        if of_peer >= self.limits.max_publishing_per_peer {
            return Err(LightpushRefusal::PeerBusy);
        }
        let bytes = message.encoded_len();
        while self.publishing.len() >= self.limits.max_publishing
            || self.publishing_bytes + bytes > self.limits.max_publishing_bytes
        {
            if !self.make_place(now, peer, of_peer) {
                return Err(LightpushRefusal::Busy);
            }
        }
        Ok((topic, message))
    }

    /// Makes room for a message of a peer that has `of_peer` others, by dropping a waiting one: the last of a blamed
    /// peer if there is any. Otherwise an unblamed peer may displace the last message of the peer with the most
    /// waiting, if that peer has at least two more.
    fn make_place(&mut self, now: Time, peer: PeerNo, of_peer: usize) -> bool {
        let turns = match self.is_blamed(now, peer) {
            true => None,
            false => self.turns.last_of_greediest(),
        };
        let greedy = turns.filter(|(_, waiting)| *waiting >= of_peer + 2);
        let behind = self.behind.last_of_greediest();
        let Some((publish, _)) = behind.or(greedy) else {
            return false;
        };
        self.published(now, publish, Err(PublishRefusal::Busy));
        true
    }

    fn is_blamed(&self, now: Time, peer: PeerNo) -> bool {
        self.blamed.get(&peer).is_some_and(|until| now < *until)
    }

    /// Blames a peer: its messages are published after those of all others, for a while.
    fn blame(&mut self, now: Time, peer: PeerNo) {
        if self.blamed.len() >= BLAMED_MAX {
            self.blamed.retain(|_, until| now < *until);
        }
        if self.blamed.len() >= BLAMED_MAX {
            self.blamed.pop_first();
        }
        self.blamed.insert(peer, now.after(BLAMED_FOR));
        let waiting = self.publishing.iter_mut().filter(|(_, publishing)| {
            publishing.peer == peer && publishing.waiting.is_some() && !publishing.is_behind
        });
        for (publish, publishing) in waiting {
            publishing.is_behind = true;
            self.turns.remove(peer, *publish);
            self.behind.push(peer, *publish);
        }
    }

    /// Hands the relay the next messages, as far as it has room.
    fn hand_out(&mut self) {
        while self.publishing.len() - self.turns.len() - self.behind.len()
            < self.limits.max_in_relay
            && let Some(publish) = self.next_turn()
        {
            let publishing = self.publishing.get_mut(&publish);
            if let Some((pubsub_topic, message)) = publishing.and_then(|one| one.waiting.take()) {
                self.outputs.push_back(Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                });
            }
        }
    }

    fn next_turn(&mut self) -> Option<RequestNo> {
        if let Some(publish) = self.turns.pop() {
            return Some(publish);
        }
        let mut publishing = self.publishing.values();
        let is_free = !publishing.any(|one| one.is_behind && one.waiting.is_none());
        is_free.then(|| self.behind.pop()).flatten()
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
        let is_behind = self.is_blamed(now, peer);
        let publishing = PublishInFlight {
            peer,
            answer: Some(answer),
            bytes: message.encoded_len(),
            deadline: now.after(self.limits.publish_timeout),
            waiting: Some((pubsub_topic, message)),
            is_behind,
        };
        self.publishing_bytes += publishing.bytes;
        *self.peers.entry(peer).or_default() += 1;
        self.publishing.insert(publish, publishing);
        let turns = match is_behind {
            true => &mut self.behind,
            false => &mut self.turns,
        };
        turns.push(peer, publish);
    }

    fn published(&mut self, now: Time, publish: RequestNo, outcome: Result<u32, PublishRefusal>) {
        let Some(publishing) = self.publishing.remove(&publish) else {
            return; // timed out before
        };
        if publishing.waiting.is_some() {
            self.turns.remove(publishing.peer, publish);
            self.behind.remove(publishing.peer, publish);
        }
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
        if outcome == Err(PublishRefusal::ForgedProof) {
            self.blame(now, publishing.peer);
        }
        match publishing.answer {
            Some(answer) => self.respond(answer, outcome.map_err(LightpushRefusal::Publish)),
            None => self.count(outcome.is_ok()),
        }
    }

    fn expire(&mut self, now: Time) {
        while let Some((&publish, first)) = self.publishing.first_key_value()
            && first.deadline <= now
        {
            self.published(now, publish, Err(PublishRefusal::TimedOut));
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
