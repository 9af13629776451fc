//! Driver of the light client: this node's subscriptions at filter peers, for topics that are not relayed.
//!
//! The state machine (`undertone_services::light`) decides which peers hold the subscriptions, and when stores are
//! asked for missed messages. This task carries that out over streams, and passes each message to the sinks once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use libp2p::PeerId;
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use tokio::sync::mpsc;
use undertone_gossip::MessageId;
use undertone_message::PubsubTopic;
use undertone_services::PeerNo;
use undertone_services::filter::{FilterCodecLimits, FilterCriterion, MessagePush};
use undertone_services::light::{
    DeliveryOrigin, Input, LightClient, LightConfig, LightDelivery, LightSubscribeError, Offence,
    Output,
};

use super::ServiceFailure;
use super::client::PeerClient;
use super::service_peers::{ServicePeerEvent, ServicePeers};
use undertone_network::driver::Clock;
use undertone_network::handle::{Deliveries, Delivery};

mod calls;
mod requests;
mod status;
#[cfg(test)]
#[path = "tests/light_driver.rs"]
mod tests;

pub use calls::LightCall;
use calls::WaitingCall;
use requests::{AnswerBody, FilterRequests, PeerAnswer};
pub use status::LightStatus;

/// Interval at which the offset between wall clock and virtual time is updated.
const CLOCK_SYNC: Duration = Duration::from_secs(10);

/// Maximum sleep between two checks of the machine's timers.
const IDLE: Duration = Duration::from_secs(3_600);

/// Minimum time between two log lines about one peer's offences.
const WARNING: Duration = Duration::from_secs(60);

/// Maximum number of calls waiting for the driver; further ones wait in their tasks.
const CALLS_MAX: usize = 1_024;

/// Components of the driver.
pub(super) struct LightParts {
    pub(super) client: PeerClient,
    pub(super) peers: ServicePeers,
    pub(super) sinks: Deliveries,
    pub(super) clock: Clock,
    pub(super) rng: ChaCha8Rng,
}

/// Driver of the light client.
pub(super) struct LightDriver {
    machine: LightClient,
    clock: Clock,
    peers: ServicePeers,
    requests: FilterRequests,
    sinks: Deliveries,
    criteria: BTreeSet<FilterCriterion>,
    calls: Vec<WaitingCall>,
    /// Last failure of each peer that has not answered since.
    failures: BTreeMap<PeerNo, ServiceFailure>,
    /// Times of the last log lines about peers' offences.
    warned: BTreeMap<PeerNo, Instant>,
    /// The machine's refusal of its last input, if any.
    refusal: Option<LightSubscribeError>,
    /// Peer that sent the machine's current input.
    source: Option<PeerId>,
    limits: FilterCodecLimits,
    /// Number of filter peers that hold all subscriptions of a topic, as last reported by the machine.
    health: BTreeMap<Arc<str>, usize>,
    status: Arc<Mutex<LightStatus>>,
    answers: mpsc::UnboundedReceiver<PeerAnswer>,
}

impl LightDriver {
    /// Starts to maintain subscriptions; returns the queue for calls.
    pub(super) fn start(
        parts: LightParts,
        status: Arc<Mutex<LightStatus>>,
    ) -> mpsc::Sender<LightCall> {
        let config = LightConfig::default();
        // Bounded by the machine, which has at most one request per peer in progress.
        let (sender, answers) = mpsc::unbounded_channel();
        let driver = Self {
            machine: LightClient::new(config, parts.clock.unix_ns_at_zero(), parts.rng),
            clock: parts.clock,
            peers: parts.peers,
            requests: FilterRequests::new(parts.client, sender),
            sinks: parts.sinks,
            criteria: BTreeSet::new(),
            calls: Vec::new(),
            failures: BTreeMap::new(),
            warned: BTreeMap::new(),
            refusal: None,
            source: None,
            limits: FilterCodecLimits::default(),
            health: BTreeMap::new(),
            status,
            answers,
        };
        let (calls_in, calls) = mpsc::channel(CALLS_MAX);
        tokio::spawn(driver.run(calls));
        calls_in
    }

    /// Maintains the subscriptions until the node stops.
    async fn run(mut self, mut calls: mpsc::Receiver<LightCall>) {
        let mut events = self.peers.watch();
        let mut clock_sync = tokio::time::interval(CLOCK_SYNC);
        clock_sync.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let idle = Instant::now() + IDLE;
            let wake = self.machine.next_timeout();
            let wake = wake.map_or(idle, |time| idle.min(self.clock.instant(time)));
            tokio::select! {
                // Calls include floods of pushed messages, so they come last and do not delay other events.
                biased;
                event = events.recv() => match event {
                    Some(event) => self.on_event(event),
                    None => return,
                },
                Some(answer) = self.answers.recv() => self.on_answer(answer),
                _ = clock_sync.tick() => {
                    let unix_ns_at_zero = self.clock.unix_ns_at_zero();
                    self.input(Input::ClockSet { unix_ns_at_zero });
                }
                () = tokio::time::sleep_until(wake.into()) => self.input(Input::Tick),
                call = calls.recv() => match call {
                    Some(call) => self.on_call(call),
                    None => return,
                },
            }
            self.settle();
        }
    }

    fn on_event(&mut self, event: ServicePeerEvent) {
        match &event {
            ServicePeerEvent::ConnectFailed(peer) => {
                if let Some(identity) = self.peers.identity(*peer) {
                    let reason = "no connection".to_owned();
                    let failure = ServiceFailure::Dial {
                        peer: identity,
                        reason,
                    };
                    self.failures.insert(*peer, failure);
                }
            }
            ServicePeerEvent::Lost(peer) => {
                self.failures.remove(peer);
                self.warned.remove(peer);
            }
            ServicePeerEvent::Found(_)
            | ServicePeerEvent::Connected(_)
            | ServicePeerEvent::Disconnected(_) => {}
        }
        self.input(event.into());
    }

    fn on_answer(&mut self, answer: PeerAnswer) {
        let PeerAnswer {
            number,
            peer,
            request,
            body,
        } = answer;
        if let Some(failure) = body.failure() {
            tracing::debug!(%peer, error = %failure, "a service peer failed");
        }
        match &body {
            AnswerBody::Filter(Ok(())) => {
                self.failures.remove(&number);
            }
            AnswerBody::Filter(Err(failure)) => {
                self.failures.insert(number, failure.clone());
            }
            AnswerBody::History(_) => {}
        }
        self.source = Some(peer);
        self.input(match body {
            AnswerBody::Filter(answer) => Input::FilterAnswer {
                request,
                answer: answer.map_err(|failure| requests::kind(&failure)),
            },
            AnswerBody::History(answer) => Input::HistoryAnswer {
                request,
                answer: answer.map_err(|failure| requests::kind(&failure)),
            },
        });
        self.source = None;
    }

    fn on_push(&mut self, peer: PeerId, frame: &Bytes) {
        let push = match MessagePush::decode(frame, &self.limits) {
            Ok(push) => push,
            Err(error) => {
                tracing::debug!(%peer, %error, "a pushed message cannot be read");
                return;
            }
        };
        let Some(number) = self.peers.number(peer) else {
            tracing::debug!(%peer, "dropping a message that a peer pushed without being asked");
            return;
        };
        self.source = Some(peer);
        self.input(Input::Pushed {
            peer: number,
            pubsub_topic: push.pubsub_topic.unwrap_or_default(),
            message: push.message,
        });
        self.source = None;
    }

    /// Passes an input to the machine and carries out its outputs.
    fn input(&mut self, input: Input) {
        self.machine.handle(self.clock.now(), input);
        while let Some(output) = self.machine.poll() {
            self.output(output);
        }
    }

    fn output(&mut self, output: Output) {
        match output {
            Output::Connect(peer) => self.peers.connect(peer),
            Output::Filter {
                peer,
                request,
                body,
            } => {
                // A peer that has been forgotten meanwhile gives no answer.
                if let Some(identity) = self.peers.identity(peer) {
                    self.requests.filter(peer, identity, request, body);
                }
            }
            Output::History {
                peer,
                request,
                query,
            } => {
                if let Some(identity) = self.peers.identity(peer) {
                    self.requests.history(peer, identity, request, query);
                }
            }
            Output::Deliver(delivery) => self.deliver(delivery),
            Output::SubscribeRefused { reason, .. } => self.refusal = Some(reason),
            Output::Health {
                pubsub_topic,
                filter_peers,
            } => self.on_health(pubsub_topic, filter_peers),
            Output::Unchecked {
                pubsub_topic,
                from_ns,
                until_ns,
            } => {
                self.status.lock().unchecked += 1;
                tracing::warn!(
                    %pubsub_topic, from_ns, until_ns,
                    "messages of this time may be missing: too many came for them to be compared with history"
                );
            }
            Output::Misbehaved { peer, offence } => {
                self.status.lock().offences += 1;
                self.warn_of(peer, offence);
            }
            // Numbers are never reused for other peers.
            Output::Forgotten(_) => {}
        }
    }

    /// Logs an offence of a peer, with a limited rate.
    fn warn_of(&mut self, peer: PeerNo, offence: Offence) {
        let now = Instant::now();
        let last = self.warned.get(&peer);
        if last.is_some_and(|last| now.duration_since(*last) < WARNING) {
            return;
        }
        self.warned.insert(peer, now);
        if let Some(peer) = self.peers.identity(peer) {
            let offence = status::words(offence);
            tracing::warn!(%peer, offence, "avoiding a service peer for a while");
        }
    }

    fn deliver(&mut self, delivery: LightDelivery) {
        let now = Instant::now();
        // Only parsed topics are subscribed to.
        let Ok(pubsub_topic) = PubsubTopic::parse_any(&delivery.pubsub_topic) else {
            return;
        };
        {
            let mut status = self.status.lock();
            match delivery.origin {
                DeliveryOrigin::Filter(_) => status.pushed += 1,
                DeliveryOrigin::Store(_) => status.recovered += 1,
            }
        }
        self.sinks.deliver(&Delivery {
            pubsub_topic,
            id: MessageId::of(&delivery.message.encode()),
            message: delivery.message,
            from: self.source,
            received: now,
            validated: now,
        });
    }

    fn on_health(&mut self, pubsub_topic: Arc<str>, filter_peers: usize) {
        match filter_peers {
            0 => tracing::warn!(
                %pubsub_topic,
                "no filter peer has all of this node's subscriptions; trying on"
            ),
            _ => tracing::info!(%pubsub_topic, filter_peers, "filter peers have the subscriptions"),
        }
        self.health.insert(pubsub_topic, filter_peers);
        self.show_status();
    }

    /// Publishes how many filter peers hold the subscriptions of each topic.
    fn show_status(&mut self) {
        let topics: BTreeSet<_> = self.criteria.iter().map(|one| &one.pubsub_topic).collect();
        self.health.retain(|topic, _| topics.contains(topic));
        let filter_peers = topics.into_iter().map(|topic| {
            let peers = self.health.get(topic).copied().unwrap_or(0);
            (topic.clone(), peers)
        });
        self.status.lock().filter_peers = filter_peers.collect();
    }
}
