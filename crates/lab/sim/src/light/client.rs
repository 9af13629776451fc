//! State machines of an honest light client, with their inputs and dials.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::WakuMessage;
use undertone_rln::RateLimitProof;
use undertone_sds as sds;
use undertone_services::PeerNo;
use undertone_services::filter::{FilterCodecLimits, MessagePush};
use undertone_services::history::CLOCK_TOLERANCE_NS;
use undertone_services::light::{
    self, DeliveryOrigin, LightClient, LightConfig, LightDelivery, ServicePeer, Services,
};
use undertone_services::sending::{self, MessageSender, SendId, SenderConfig};
use undertone_services::trust::Standing;

use crate::light::channel::ChannelMember;
use crate::light::node::LightNode;
use crate::light::streams::Asker;
use crate::light::{LightEvent, answers};
use crate::member::SimMember;
use crate::node::check::violated;
use crate::node::event::{Event, Step};
use crate::node::input::{number_in, payload};
use crate::outcome::LightArrival;
use crate::seeds::derive;
use crate::world::{MAX_CLOCK_GAP_NS, UNIX_NS_AT_ZERO, World};

/// A client's state machines, as shipped, and its membership.
#[derive(Debug)]
pub(super) struct HonestClient {
    pub(super) light: LightClient,
    pub(super) sender: MessageSender,
    pub(super) member: Option<SimMember>,
    /// Peers that each state machine has asked to connect to.
    pub(super) light_dials: BTreeSet<usize>,
    pub(super) sender_dials: BTreeSet<usize>,
    /// Membership of the channel, if the scenario has one.
    pub(super) channel: Option<Box<ChannelMember>>,
    /// Subscriptions: pubsub topic and content topic.
    wants: Vec<(Arc<str>, Arc<str>)>,
}

impl HonestClient {
    fn new(world: &World, now: Time, id: u32, number: u32) -> Option<Self> {
        let setup = world.scenario.services.as_ref()?;
        let rng = |part| ChaCha8Rng::from_seed(derive(world.seed, part, u64::from(id)));
        let mut config = LightConfig::default();
        config.filter_peers = setup.filter_peers as usize;
        let max_message_bytes = world.scenario.relay.max_message_bytes;
        let rln = world.scenario.rln.as_ref();
        // As in real nodes, whose stores reject messages with a larger difference.
        let tolerance = Duration::from_nanos(MAX_CLOCK_GAP_NS.min(CLOCK_TOLERANCE_NS));
        let mut sending = SenderConfig::for_network(rln.is_some(), tolerance);
        sending.limits.max_message_bytes = max_message_bytes;
        sending.limits.max_bytes = sending.limits.max_bytes.max(16 * max_message_bytes);
        let topics = (0..setup.topics_per_client).map(|offset| {
            let at = ((number + offset) % setup.content_topics.max(1)) as usize;
            let shard = at % world.shards.len();
            (
                world.shards[shard].clone(),
                world.content_topics[at].clone(),
            )
        });
        Some(Self {
            light: LightClient::new(config, UNIX_NS_AT_ZERO, rng("light client")),
            sender: MessageSender::new(sending, UNIX_NS_AT_ZERO, rng("sender")),
            member: rln.map(|rln| SimMember::new(world.seed, id, rln.message_limit)),
            light_dials: BTreeSet::new(),
            sender_dials: BTreeSet::new(),
            channel: ChannelMember::new(world, now, id).map(Box::new),
            wants: if setup.subscribes {
                topics.collect()
            } else {
                Vec::new()
            },
        })
    }

    fn next_timeout(&self) -> Option<u64> {
        let channel = self.channel.as_ref();
        let timers = [
            self.light.next_timeout(),
            self.sender.next_timeout(),
            channel.and_then(|member| member.next_timeout()),
        ];
        timers.into_iter().flatten().min().map(Time::as_nanos)
    }
}

/// Service node at an index, as a client sees it.
fn service_peer(world: &World, at: usize) -> ServicePeer {
    let setup = world.scenario.services.as_ref();
    ServicePeer {
        peer: PeerNo(at as u64),
        services: Services {
            filter: true,
            lightpush: true,
            store: setup.is_some_and(|setup| setup.store),
        },
        pubsub_topics: None,
        filters_all: false,
        standing: Standing::Known,
        network: None,
    }
}

impl LightNode {
    pub(super) fn start_client(&mut self, step: &mut Step<'_>) {
        let number = self.id - step.world.scenario.nodes;
        let now = Time::from_nanos(step.now_ns);
        let Some(mut client) = HonestClient::new(step.world, now, self.id, number) else {
            return;
        };
        for peer in (0..self.peers.len()).filter(|peer| self.peers[*peer].is_offered) {
            let peer = service_peer(step.world, peer);
            client
                .light
                .handle(now, light::Input::PeerFound(peer.clone()));
            client.sender.handle(now, sending::Input::PeerFound(peer));
        }
        for (pubsub_topic, content_topic) in &client.wants {
            let subscribe = light::Input::Subscribe {
                pubsub_topic: pubsub_topic.clone(),
                content_topics: vec![content_topic.clone()],
                since_ns: None,
            };
            client.light.handle(now, subscribe);
        }
        self.client = Some(Box::new(client));
        self.epoch(step);
    }

    /// Tells the sender the rate limit's budget for the epoch that begins.
    pub(super) fn epoch(&mut self, step: &mut Step<'_>) {
        let (Some(client), Some(rln)) = (&mut self.client, &step.world.scenario.rln) else {
            return;
        };
        let unix_s = (UNIX_NS_AT_ZERO + step.now_ns) / 1_000_000_000;
        let ends_s = (unix_s / rln.epoch_s + 1) * rln.epoch_s;
        let ends_ns = ends_s * 1_000_000_000 - UNIX_NS_AT_ZERO;
        let budget = sending::Input::Budget {
            remaining: rln.message_limit,
            epoch_ends: Time::from_nanos(ends_ns),
        };
        client.sender.handle(Time::from_nanos(step.now_ns), budget);
        self.schedule_own(step, ends_ns, Event::Light(LightEvent::Epoch));
    }

    pub(super) fn publish(&mut self, step: &mut Step<'_>, number: u32) {
        let Some(client) = &mut self.client else {
            // The client has not started yet.
            let at_ns = step.now_ns + 1_000_000_000;
            return self.schedule_own(step, at_ns, Event::Publish(number));
        };
        let world = step.world;
        let bytes = world.messages[number as usize].payload_bytes;
        if client.channel.is_some() {
            return self.publish_in_channel(step, number, bytes);
        }
        let content = world.content_topic(number).unwrap_or(0);
        let message = WakuMessage::new(
            payload(u64::from(number), bytes),
            world.content_topics[content].clone(),
        );
        let topic = world.shards[world.topic_of(number)].clone();
        let now = Time::from_nanos(step.now_ns);
        if client.sender.send(now, topic, message).is_err() {
            self.counters.sends_refused += 1;
        }
    }

    pub(super) fn proved(
        &mut self,
        step: &mut Step<'_>,
        id: SendId,
        attempt: u32,
        proof: &RateLimitProof,
    ) {
        let result = Ok(Bytes::from(proof.encode()));
        self.feed_sender(
            step.now_ns,
            sending::Input::Proved {
                id,
                attempt,
                result,
            },
        );
    }

    pub(super) fn feed_sender(&mut self, now_ns: u64, input: sending::Input) {
        if let Some(client) = &mut self.client {
            client.sender.handle(Time::from_nanos(now_ns), input);
        }
    }

    pub(super) fn feed_light(&mut self, now_ns: u64, input: light::Input) {
        if let Some(client) = &mut self.client {
            client.light.handle(Time::from_nanos(now_ns), input);
        }
    }

    pub(super) fn tick_machines(&mut self, step: &mut Step<'_>) {
        self.feed_light(step.now_ns, light::Input::Tick);
        self.feed_sender(step.now_ns, sending::Input::Tick);
        self.channel_input(step, sds::Input::Tick, false);
    }

    pub(super) fn next_machine_timeout(&self) -> Option<u64> {
        self.client.as_ref()?.next_timeout()
    }

    /// Tells the state machines that a service node is connected. One found by peer exchange is introduced to
    /// them first.
    pub(super) fn connected(&mut self, step: &mut Step<'_>, peer: usize) {
        let slot = &mut self.peers[peer];
        slot.is_greeted = true;
        if !std::mem::replace(&mut slot.is_offered, true) {
            self.counters.peers_found += 1;
            let found = service_peer(step.world, peer);
            self.feed_light(step.now_ns, light::Input::PeerFound(found.clone()));
            self.feed_sender(step.now_ns, sending::Input::PeerFound(found));
        }
        let no = PeerNo(peer as u64);
        self.feed_light(step.now_ns, light::Input::Connected(no));
        self.feed_sender(step.now_ns, sending::Input::Connected(no));
        if let Some(client) = &mut self.client {
            client.light_dials.remove(&peer);
            client.sender_dials.remove(&peer);
        }
    }

    pub(super) fn connect_failed(&mut self, step: &mut Step<'_>, peer: usize) {
        let no = PeerNo(peer as u64);
        let Some(client) = &mut self.client else {
            return;
        };
        let asked = (
            client.light_dials.remove(&peer),
            client.sender_dials.remove(&peer),
        );
        if asked.0 {
            self.feed_light(step.now_ns, light::Input::ConnectFailed(no));
        }
        if asked.1 {
            self.feed_sender(step.now_ns, sending::Input::ConnectFailed(no));
        }
    }

    pub(super) fn disconnected(&mut self, step: &mut Step<'_>, peer: usize) {
        let no = PeerNo(peer as u64);
        self.feed_light(step.now_ns, light::Input::Disconnected(no));
        self.feed_sender(step.now_ns, sending::Input::Disconnected(no));
        self.reading_disconnected(step, peer);
    }

    pub(super) fn pushed(&mut self, step: &mut Step<'_>, peer: usize, body: &[u8]) {
        self.counters.pushes += 1;
        let mut limits = FilterCodecLimits::default();
        let max_bytes = step.world.scenario.relay.max_message_bytes;
        limits.message.max_message_bytes = max_bytes;
        limits.max_push_bytes = max_bytes + 1024;
        let push = MessagePush::decode(body, &limits);
        if let Ok(MessagePush {
            message,
            pubsub_topic: Some(pubsub_topic),
        }) = push
        {
            let pushed = light::Input::Pushed {
                peer: PeerNo(peer as u64),
                pubsub_topic,
                message,
            };
            self.feed_light(step.now_ns, pushed);
        }
    }

    /// Handles the answer on a stream.
    pub(super) fn answered(&mut self, step: &mut Step<'_>, stream: u32, body: &Bytes) {
        let Some(open) = self.take_stream(stream) else {
            return;
        };
        let now_ns = step.now_ns;
        let busy = |failure: &light::ServicePeerFailure| {
            matches!(failure, light::ServicePeerFailure::Busy { .. })
        };
        match open.asker {
            Asker::Filter(request) => {
                let answer = answers::filter(body);
                let refused = answer.as_ref().is_err_and(busy);
                self.count_answer(step, &open, refused);
                self.feed_light(now_ns, light::Input::FilterAnswer { request, answer });
            }
            Asker::History(request) => {
                let answer = answers::history(body);
                let refused = answer.as_ref().is_err_and(busy);
                self.count_answer(step, &open, refused);
                self.feed_light(now_ns, light::Input::HistoryAnswer { request, answer });
            }
            Asker::Confirmation(request) => {
                let answer = answers::history(body);
                let refused = answer.as_ref().is_err_and(busy);
                self.count_answer(step, &open, refused);
                self.feed_sender(now_ns, sending::Input::HistoryAnswer { request, answer });
            }
            Asker::Push(version, request) => {
                let answer = answers::push(version, body);
                let is_busy = matches!(answer, Err(sending::PushFailure::Busy { .. }));
                self.count_answer(step, &open, is_busy);
                self.feed_sender(now_ns, sending::Input::PushAnswer { request, answer });
            }
            Asker::Metadata(conn) => self.on_metadata(step, conn, body),
            Asker::PeerExchange => self.on_peers(step, body),
            Asker::Retrieval => {
                let answer = answers::history(body);
                let refused = answer.as_ref().is_err_and(busy);
                self.count_answer(step, &open, refused);
                self.retrieved(step, answer.unwrap_or_default());
            }
            Asker::Reading => self.page_read(step, &open, body),
            Asker::Flood => self.flood_answered(step, &open, body),
        }
    }

    pub(super) fn delivered(&mut self, step: &mut Step<'_>, delivery: &LightDelivery) {
        self.feed_sender(step.now_ns, sending::Input::Seen(delivery.hash));
        let is_from_store = matches!(delivery.origin, DeliveryOrigin::Store(_));
        let payload = &delivery.message.payload;
        let is_member = self
            .client
            .as_ref()
            .is_some_and(|client| client.channel.is_some());
        if !is_member {
            self.given(step, payload, is_from_store);
            return;
        }
        let received = sds::Input::Received {
            bytes: payload.to_vec(),
            retrieval_hint: Some(delivery.hash.0.to_vec()),
        };
        self.channel_input(step, received, is_from_store);
    }

    /// Delivers a message to the application. Returns its number, unless the run has no such message.
    pub(super) fn given(
        &mut self,
        step: &mut Step<'_>,
        payload: &[u8],
        from_store: bool,
    ) -> Option<u32> {
        let number = number_in(payload);
        let words = [step.now_ns, number, u64::from(self.id)];
        crate::trace::mix(&mut self.trace, words, &[]);
        let message = u32::try_from(number).ok();
        let known = message.and_then(|message| step.world.messages.get(message as usize));
        let Some(message) = known else {
            let rule = "a light client is given no message that nobody published";
            violated(step.scratch, step.now_ns, self.id, rule);
            return None;
        };
        if !self.delivered.insert(message.index) {
            let rule = "a message is delivered to a light client at most once";
            violated(step.scratch, step.now_ns, self.id, rule);
        }
        if message.publisher != self.id {
            step.scratch.deliveries += 1;
            self.deliveries.push(LightArrival {
                message: message.index,
                receiver: self.id,
                received_ns: step.now_ns,
                from_store,
            });
        }
        Some(message.index)
    }

    /// Whether the client subscribes to the topics of a message.
    pub(crate) fn wants(&self, world: &World, message: u32) -> bool {
        let content = world.content_topic(message).unwrap_or(0);
        let wanted = &world.content_topics[content];
        let client = self.client.as_ref();
        client.is_some_and(|client| client.wants.iter().any(|(_, topic)| topic == wanted))
    }
}
