//! Handling of commands to the running node.

use std::collections::BTreeSet;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use undertone_gossip::{RequestId, Topic};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{self as relay, Input, ProofFailure, PublishError, Rejection};

use super::connections::PeerConnections;
use super::event_loop::EventLoop;
use super::peers::{KnownPeer, is_of_one_link, without_peer_id};
use super::requests::{PendingPublish, PublishAnswer};
use super::rln::RlnService;
use super::sending::unsent;
use crate::command::{
    AddressGiver, Command, ConnectFailure, GossipSnapshot, MetricsSnapshot, NodeInfo, PeerSnapshot,
    PublishFailure, Published, SubscribeFailure, TopicSnapshot,
};
use crate::swarm::{CertificateWatch, is_relayed};

impl EventLoop {
    pub(crate) fn on_command(&mut self, command: Command) {
        // A caller that no longer waits for its answer is not an error of the node.
        match command {
            Command::Subscribe { reply, .. } if !self.is_relay => {
                let _ = reply.send(Err(SubscribeFailure::NotRelaying));
            }
            Command::Publish { reply, .. } if !self.is_relay => {
                let _ = reply.send(Err(PublishFailure::NotRelaying));
            }
            Command::Subscribe { topic, reply } => {
                let _ = reply.send(self.subscribe(topic));
            }
            Command::Unsubscribe { topic, reply } => {
                self.totals.left += u64::from(self.joined.remove(&topic));
                self.input(Input::Unsubscribe(topic));
                let _ = reply.send(Ok(()));
            }
            Command::Publish {
                pubsub_topic,
                message,
                for_client,
                reply,
            } => {
                if self.joined.contains(&pubsub_topic) {
                    let answer = PublishAnswer::Caller(reply);
                    self.publish(pubsub_topic, message, for_client, answer);
                } else {
                    let topic = pubsub_topic;
                    let _ = reply.send(Err(PublishFailure::NotSubscribed { topic }));
                }
            }
            Command::Subscriber {
                peer,
                is_subscribed,
            } => {
                let places = self.swarm.behaviour_mut().admission.places();
                places.subscribes(peer, is_subscribed);
            }
            Command::Sender(question) => self.on_sender(question),
            Command::Peers { reply } => {
                let _ = reply.send(self.snapshots());
            }
            Command::Connect {
                address,
                given_by,
                reply,
            } => {
                if given_by == AddressGiver::Operator {
                    self.trusted_names.trust(&address);
                }
                let tcp = address.iter().any(|part| matches!(part, Protocol::Tcp(_)));
                let quic = address.iter().any(|part| part == Protocol::QuicV1);
                if tcp || quic {
                    self.dial(address, Some(reply));
                } else {
                    let _ = reply.send(Err(ConnectFailure::Unsupported { address }));
                }
            }
            Command::SetStaticPeers { peers, reply } => {
                self.set_static_peers(peers);
                let _ = reply.send(());
            }
            Command::RenewCertificate { reply } => {
                self.check_certificate(true);
                let _ = reply.send(());
            }
            Command::Info { reply } => {
                let _ = reply.send(self.info());
            }
            Command::Health { reply } => {
                let _ = reply.send(self.health());
            }
            Command::Gossip { reply } => {
                let _ = reply.send(self.gossip());
            }
            Command::Rln { reply } => {
                let _ = reply.send(self.rln.as_ref().map(RlnService::snapshot));
            }
            Command::Metrics { reply } => {
                let _ = reply.send(Box::new(self.metrics()));
            }
            Command::Shutdown { reply } => {
                // The event loop handles this command itself, because it must end.
                let _ = reply.send(());
            }
        }
    }

    pub(crate) fn subscribe(&mut self, topic: PubsubTopic) -> Result<(), SubscribeFailure> {
        if !self.relay.is_in_network(&topic) {
            return Err(SubscribeFailure::NotInNetwork {
                topic,
                network: self.network,
            });
        }
        self.input(Input::Subscribe(topic.clone()));
        if self.joined.contains(&topic) {
            return Ok(());
        }
        let max = self.relay.router().config().limits.topics_max;
        Err(SubscribeFailure::TooMany { max })
    }

    pub(super) fn publish(
        &mut self,
        topic: PubsubTopic,
        message: WakuMessage,
        for_client: bool,
        answer: PublishAnswer,
    ) {
        let message = self.stamped(message);
        let fragments = self.fragmenter.split(&message);
        let parts = fragments.unwrap_or_else(|| vec![message.clone()]);
        let publishing = PendingPublish {
            pubsub_topic: topic,
            message,
            for_client,
            answer,
            delivered: Vec::new(),
        };
        self.publish_parts(publishing, parts, false);
    }

    /// Publishes a message, whole or in fragments; with `is_repeated` as it was published before.
    pub(super) fn publish_parts(
        &mut self,
        publishing: PendingPublish,
        parts: Vec<WakuMessage>,
        is_repeated: bool,
    ) {
        // The relay compares the timestamp with its clock, and the wall clock may have been set since.
        self.set_clock();
        let first = RequestId(self.next_request);
        let topic = publishing.pubsub_topic.clone();
        self.publishing.insert(first, publishing);
        if parts.len() > 1 {
            self.fragmenter.begin(first, parts.len());
        }
        for message in parts {
            let request = RequestId(self.next_request);
            self.next_request += 1;
            let topic = topic.clone();
            self.traces.publishing(request, &topic, &message);
            self.input(match is_repeated {
                false => Input::Publish {
                    topic,
                    message,
                    request,
                },
                true => Input::Republish {
                    topic,
                    message,
                    request,
                },
            });
        }
    }

    /// Sets a missing timestamp. The fragments of a message carry its timestamp, so it is set before the split.
    pub(super) fn stamped(&self, mut message: WakuMessage) -> WakuMessage {
        if message.timestamp_ns() == 0 {
            let unix_ns = self.clock.unix_ns_at_zero() + self.clock.now().as_nanos();
            message.timestamp = Some(i64::try_from(unix_ns).unwrap_or(i64::MAX));
        }
        message
    }

    pub(crate) fn answer_publish(
        &mut self,
        request: RequestId,
        outcome: Result<relay::Published, PublishError>,
    ) {
        self.proving_since.remove(&request);
        self.traces.published(request, &outcome);
        // A publication has the number of its first fragment.
        let of_part = self.publishing.range_mut(..=request).next_back();
        if let (Some(part), Some((_, publishing))) = (self.last_own.take(), of_part) {
            publishing.delivered.push(part);
        }
        let Some((request, outcome)) = self.fragmenter.settled(request, outcome) else {
            return;
        };
        match &outcome {
            Ok(published) if published.peers > 0 => self.totals.published += 1,
            _ => self.totals.publish_failed += 1,
        }
        let Some(publishing) = self.publishing.remove(&request) else {
            return;
        };
        let answer = match outcome {
            // The message is in the cache and will be gossiped, but no peer has it yet.
            Ok(published) if published.peers == 0 => Err(PublishFailure::NoPeers),
            Ok(published) => Ok(Published {
                id: published.id,
                pubsub_topic: publishing.pubsub_topic,
                message: publishing.message,
                peers: published.peers,
            }),
            Err(error) => Err(self.failure(error)),
        };
        match publishing.answer {
            PublishAnswer::Caller(reply) => self.after_deliveries(move || drop(reply.send(answer))),
            PublishAnswer::First(reply) => {
                let answer = unsent(answer, publishing.delivered);
                self.after_deliveries(move || drop(reply.send(answer)));
            }
        }
    }

    pub(super) fn failure(&self, error: PublishError) -> PublishFailure {
        match error {
            PublishError::NotSubscribed { topic } => PublishFailure::NotSubscribed { topic },
            PublishError::Duplicate | PublishError::InvalidProof(Rejection::Duplicate) => {
                PublishFailure::Duplicate
            }
            PublishError::TooLarge { len, max } => PublishFailure::TooLarge {
                size_bytes: len,
                max_bytes: max,
            },
            PublishError::Proof(ProofFailure::Exhausted { limit, epoch }) => {
                PublishFailure::RateLimit {
                    limit: u64::from(limit),
                    resets_in_s: self.relay.seconds_until_after(epoch),
                }
            }
            PublishError::Proof(failure) => PublishFailure::RlnProof {
                reason: failure.to_string(),
            },
            PublishError::Busy { waiting } => PublishFailure::Busy { waiting },
            PublishError::Bandwidth { topic, wait } => PublishFailure::Bandwidth {
                pubsub_topic: topic,
                wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            PublishError::InvalidProof(rejection) => PublishFailure::InvalidProof {
                reason: error.to_string(),
                is_forged: rejection.is_blamed(),
            },
            error => PublishFailure::InvalidMessage {
                reason: error.to_string(),
            },
        }
    }

    fn snapshots(&self) -> Vec<PeerSnapshot> {
        self.peers
            .iter()
            .map(|(peer, known)| self.snapshot(*peer, known))
            .collect()
    }

    fn snapshot(&self, peer: libp2p::PeerId, known: &KnownPeer) -> PeerSnapshot {
        let router = self.relay.router();
        let ix = self.peers.find(&peer);
        let topics = ix.map(|ix| router.topics_of(ix)).unwrap_or_default();
        let in_mesh = topics
            .iter()
            .filter(|t| ix.is_some_and(|ix| router.mesh(t).contains(&ix)));
        let parse = |topic: &Topic| PubsubTopic::parse_any(topic.as_str()).ok();
        PeerSnapshot {
            peer_id: peer,
            multiaddr: known.address.clone(),
            protocols: known.protocols.clone(),
            shards: known.shards.clone(),
            connected: known.connected,
            is_inbound: known.is_inbound,
            transport: known.transport,
            agent: known.agent.clone(),
            origin: known.origin,
            score: ix.map_or(0.0, |ix| router.score(ix)),
            in_mesh: in_mesh.filter_map(parse).collect(),
            topics: topics.iter().filter_map(parse).collect(),
        }
    }

    /// Takes the certificate of the WebSocket port from its files if they have changed, or if `is_asked`.
    pub(crate) fn check_certificate(&mut self, is_asked: bool) {
        if let Some(certificate) = &mut self.certificate {
            certificate.check(is_asked);
        }
    }

    /// Addresses that the node listens on, and those at which others reach it.
    pub(crate) fn own_addresses(&self) -> Vec<Multiaddr> {
        let external = self.swarm.external_addresses();
        self.swarm.listeners().chain(external).cloned().collect()
    }

    /// Addresses at which others reach the node, those that the operator announces first.
    pub(crate) fn told_addresses(&self) -> Vec<Multiaddr> {
        let mut external: Vec<_> = self.swarm.external_addresses().cloned().collect();
        // The library keeps them in no order, and a record that only changes its order would be a new one.
        external.sort();
        // Places at relays are external addresses too.
        let listening = self.swarm.listeners();
        let listening = listening.filter(|own| !self.hides_listening && !is_relayed(own));
        let listening = listening.filter(|own| !is_of_one_link(own));
        external.into_iter().chain(listening.cloned()).collect()
    }

    fn info(&self) -> NodeInfo {
        let peer_id = *self.swarm.local_peer_id();
        let addresses = self.told_addresses();
        // discv5 signs a record that has the address at which other nodes see this one.
        let connections = self.connections.as_ref();
        let found = connections.and_then(|connections| connections.ports.record());
        let own = || self.record.uri(&addresses, self.cluster_id, &self.joined);
        NodeInfo {
            peer_id,
            listen_addresses: addresses
                .iter()
                .map(|address| without_peer_id(address).with(Protocol::P2p(peer_id)))
                .collect(),
            enr_uri: found.or_else(own),
            subscriptions: self.joined.iter().cloned().collect(),
            reachable: self.passage.reachable,
        }
    }

    fn gossip(&self) -> GossipSnapshot {
        let router = self.relay.router();
        GossipSnapshot {
            stats: router.stats(),
            usage: router.usage(),
        }
    }

    fn metrics(&self) -> MetricsSnapshot {
        let router = self.relay.router();
        let cut_off: BTreeSet<_> = self.cut_off().map(ToString::to_string).collect();
        let topic = |topic: &Topic| TopicSnapshot {
            topic: topic.as_str().to_owned(),
            mesh: router.mesh(topic).len(),
            subscribers: router.subscribers(topic).len(),
            is_cut_off: cut_off.contains(topic.as_str()),
            traffic: router.traffic(topic),
            payloads: PubsubTopic::parse_any(topic.as_str())
                .ok()
                .and_then(|topic| self.payloads.get(&topic).copied())
                .unwrap_or_default(),
        };
        MetricsSnapshot {
            runtime_load: self.runtime_load.load(),
            peers: self.peers.connected_count(),
            pubsub_peers: self.peers.count(|ix| router.is_connected(ix)),
            known_peers: self.peers.iter().count(),
            protocol_peers: self.peers.by_protocol(),
            discovered: self
                .connections
                .as_ref()
                .map(PeerConnections::discovered)
                .unwrap_or_default(),
            gossip: self.gossip(),
            topics: router.joined().iter().map(topic).collect(),
            mesh_low: router.config().degrees.d_low,
            totals: self.totals.clone(),
            checks_waiting: self.relay.checks_waiting(),
            certificate_expires_unix_s: self
                .certificate
                .as_ref()
                .map(CertificateWatch::expires_unix_s),
            reachable: self.passage.reachable,
            passage: self.passage.totals.clone(),
            rln: self.rln.as_ref().map(RlnService::snapshot),
            traces: self.traces.totals(),
        }
    }
}
