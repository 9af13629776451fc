//! Member of a channel of scalable data sync: its state machine, driven as in real nodes.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::{MessageHash, WakuMessage};
use undertone_sds::{
    CausalHistoryEntry, Channel, Id, Input, Output, PublishReason, SdsConfig, SdsLimits, SdsMessage,
};
use undertone_services::history::{HistoryCriteria, HistoryPage, HistoryQuery, PageDirection};
use undertone_services::sending::{SendEvent, SendEventKind, SendId};
use undertone_services::store::StoreRequest;

use crate::light::node::LightNode;
use crate::light::streams::Asker;
use crate::node::check::violated;
use crate::node::event::Step;
use crate::node::input::payload;
use crate::seeds::derive;
use crate::services::frames::StreamService;
use crate::world::{UNIX_NS_AT_ZERO, World};

/// Name of the channel that all members share.
const CHANNEL: &str = "simulated";

/// Shortest payload that can name the preceding message, bytes.
const ORDERED_BYTES: usize = 16;

/// Content of a message of the channel, empty for a sync message; `None` for any other payload.
///
/// Payloads of other messages are a number followed by zeros, which does not decode as a message of this channel.
pub(crate) fn channel_content(payload: &[u8]) -> Option<Vec<u8>> {
    // The field of the sender's id comes first.
    payload.first().filter(|tag| **tag == 10)?;
    let mut limits = SdsLimits::default();
    limits.max_frame_bytes = usize::MAX;
    let message = SdsMessage::decode(payload, &limits).ok()?;
    let is_ours = *message.channel_id == *CHANNEL;
    is_ours.then(|| message.content.unwrap_or_default())
}

/// Member of the channel, with the state of its driver.
#[derive(Debug)]
pub(super) struct ChannelMember {
    machine: Channel,
    /// Own messages being sent, by their number in the send queue.
    followed: BTreeMap<SendId, Id>,
    /// Own sync message being sent; further ones would be redundant until then.
    pending_sync: Option<SendId>,
    /// Message that the application received or sent last.
    last: Option<u32>,
    /// Messages that the member no longer waits for.
    lost: BTreeSet<u32>,
    /// Number of requests to stores.
    retrievals: usize,
}

impl ChannelMember {
    /// A member that has seen no message; `None` if the scenario has no channel.
    pub(super) fn new(world: &World, now: Time, id: u32) -> Option<Self> {
        world.scenario.services.as_ref().filter(|s| s.channel)?;
        let mut config = SdsConfig::new(CHANNEL, id.to_string());
        config.clock_origin_ms = UNIX_NS_AT_ZERO / 1_000_000;
        let limits = &mut config.limits;
        let max_message_bytes = world.scenario.relay.max_message_bytes;
        limits.max_frame_bytes = limits.max_frame_bytes.max(max_message_bytes);
        let rng = ChaCha8Rng::from_seed(derive(world.seed, "channel", u64::from(id)));
        Some(Self {
            machine: Channel::new(now, config, rng),
            followed: BTreeMap::new(),
            pending_sync: None,
            last: None,
            lost: BTreeSet::new(),
            retrievals: 0,
        })
    }

    /// Time of the machine's next timer.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.machine.next_timeout()
    }
}

impl LightNode {
    fn member(&mut self) -> Option<&mut ChannelMember> {
        self.client.as_mut()?.channel.as_deref_mut()
    }

    /// Sends a message of the run in the channel. Its payload names the message that the application received or sent
    /// last.
    pub(super) fn publish_in_channel(&mut self, step: &mut Step<'_>, number: u32, bytes: u32) {
        let mut payload = payload(u64::from(number), bytes);
        let Some(member) = self.member() else {
            return;
        };
        if let (Some(place), Some(last)) = (payload.get_mut(8..ORDERED_BYTES), member.last) {
            place.copy_from_slice(&(u64::from(last) + 1).to_le_bytes());
        }
        member.last = Some(number);
        let id = Id::from(number.to_string());
        self.channel_input(step, Input::Send { id, payload }, false);
    }

    /// Passes an input to the state machine, and executes its outputs.
    pub(super) fn channel_input(&mut self, step: &mut Step<'_>, input: Input, from_store: bool) {
        let now = Time::from_nanos(step.now_ns);
        if let Some(member) = self.member() {
            member.machine.handle(now, input);
        }
        while let Some(output) = self.member().and_then(|member| member.machine.poll()) {
            self.channel_output(step, output, from_store);
        }
    }

    fn channel_output(&mut self, step: &mut Step<'_>, output: Output, from_store: bool) {
        match output {
            Output::Publish {
                bytes,
                reason,
                is_ephemeral,
            } => self.channel_publishes(step, &bytes, reason, is_ephemeral),
            Output::Deliver { payload, gaps, .. } => {
                self.counters.channel_gaps += u64::from(!gaps.is_empty());
                if let Some(message) = self.given(step, &payload, from_store) {
                    self.check_order(step, &payload, &gaps);
                    if let Some(member) = self.member() {
                        member.last = Some(message);
                    }
                }
            }
            Output::Missing { entries } => self.retrieve(step, entries),
            Output::Acknowledged { .. } => self.counters.channel_acknowledged += 1,
            Output::Lost { ids } => {
                self.counters.channel_lost += ids.len() as u64;
                if let Some(member) = self.member() {
                    let numbers = ids.iter().filter_map(|id| id.parse::<u32>().ok());
                    member.lost.extend(numbers);
                }
            }
            Output::SendRefused { .. } => self.counters.sends_refused += 1,
            // Members never restart here. The other outputs are covered by other counters.
            Output::Persist
            | Output::PossiblyAcknowledged { .. }
            | Output::Unconfirmed { .. }
            | Output::Refused(_) => {}
        }
    }

    fn channel_publishes(
        &mut self,
        step: &mut Step<'_>,
        bytes: &[u8],
        reason: PublishReason,
        is_ephemeral: bool,
    ) {
        let Some(client) = &mut self.client else {
            return;
        };
        let Some(member) = &mut client.channel else {
            return;
        };
        let is_sync = reason == PublishReason::Sync;
        if is_sync && member.pending_sync.is_some() {
            return;
        }
        match reason {
            PublishReason::Sync => self.counters.channel_syncs += 1,
            PublishReason::Resend(_) => self.counters.channel_resent += 1,
            PublishReason::Repair(_) => self.counters.channel_repaired += 1,
            PublishReason::Message(_) | PublishReason::Ephemeral(_) => {}
        }
        let world = step.world;
        let mut message = WakuMessage::new(bytes.to_vec(), world.content_topics[0].clone());
        message.ephemeral = Some(is_ephemeral);
        let topic = world.shards[0].clone();
        let now = Time::from_nanos(step.now_ns);
        match (client.sender.send(now, topic, message), reason) {
            (Ok(send), PublishReason::Message(id)) => {
                member.followed.insert(send, id);
            }
            (Ok(send), PublishReason::Sync) => member.pending_sync = Some(send),
            (Ok(_), _) => {}
            // The state machine resends whatever is not acknowledged.
            (Err(_), _) => self.counters.sends_refused += 1,
        }
    }

    /// Handles a new state of a message in the send queue.
    pub(super) fn channel_sent(&mut self, step: &mut Step<'_>, event: &SendEvent) {
        let Some(member) = self.member() else {
            return;
        };
        let is_end = matches!(
            event.kind,
            SendEventKind::Stored | SendEventKind::PropagatedOnly(_) | SendEventKind::Failed(_)
        );
        if is_end && member.pending_sync == Some(event.id) {
            member.pending_sync = None;
        }
        if let (Some(id), Some(hash)) = (member.followed.get(&event.id).cloned(), event.hash) {
            member.followed.remove(&event.id);
            let published = Input::Published {
                id,
                retrieval_hint: hash.0.to_vec(),
            };
            self.channel_input(step, published, false);
        }
    }

    /// Asks the next connected store for missing messages, by the hashes that other members sent.
    fn retrieve(&mut self, step: &mut Step<'_>, entries: Vec<CausalHistoryEntry>) {
        let hints = entries.into_iter().filter_map(|entry| entry.retrieval_hint);
        let hash = |hint: Vec<u8>| <[u8; 32]>::try_from(hint).ok().map(MessageHash);
        let hashes: Vec<_> = hints.filter_map(hash).collect();
        let has_store = step
            .world
            .scenario
            .services
            .as_ref()
            .is_some_and(|s| s.store);
        let connected = (0..self.peers.len()).filter(|peer| self.peers[*peer].is_greeted);
        let connected: Vec<_> = connected.collect();
        let Some(member) = self.member() else {
            return;
        };
        let turn = member.retrievals % connected.len().max(1);
        let Some(peer) = connected.get(turn).copied() else {
            return;
        };
        if hashes.is_empty() || !has_store {
            return;
        }
        member.retrievals += 1;
        let request_id = format!("retrieval-{}", member.retrievals).into();
        let query = HistoryQuery {
            include_data: true,
            limit: hashes.len() as u32,
            criteria: HistoryCriteria::Hashes(hashes),
            cursor: None,
            direction: PageDirection::Forward,
        };
        let body = StoreRequest { request_id, query }.encode().into();
        self.ask(step, peer, Asker::Retrieval, StreamService::Store, body);
    }

    /// Handles missing messages that a store has returned.
    pub(super) fn retrieved(&mut self, step: &mut Step<'_>, page: HistoryPage) {
        for entry in page.entries {
            let Some(data) = entry.data else { continue };
            if data.message.content_topic == step.world.content_topics[0] {
                let retrieved = Input::Retrieved {
                    bytes: data.message.payload.to_vec(),
                    retrieval_hint: Some(entry.hash.0.to_vec()),
                };
                self.channel_input(step, retrieved, true);
            }
        }
    }

    /// Checks that the application already has the message that the sender received or sent last, unless the channel
    /// reports a gap.
    fn check_order(&mut self, step: &mut Step<'_>, payload: &[u8], gaps: &[Id]) {
        let before = payload.get(8..ORDERED_BYTES);
        let before = before.and_then(|bytes| bytes.try_into().ok());
        let before = before.map(u64::from_le_bytes).unwrap_or(0);
        let Some(before) = before.checked_sub(1).and_then(|n| u32::try_from(n).ok()) else {
            return;
        };
        let published = step.world.messages.get(before as usize);
        let is_own = published.is_some_and(|message| message.publisher == self.id);
        let is_lost = self.member().is_some_and(|m| m.lost.contains(&before));
        if !self.delivered.contains(&before) && !is_own && !is_lost && gaps.is_empty() {
            let rule = "a channel delivers a message after those that its sender had";
            violated(step.scratch, step.now_ns, self.id, rule);
        }
    }
}
