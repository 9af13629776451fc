//! Handling of commands to the running node.

use std::collections::BTreeSet;

use libp2p::multiaddr::Protocol;
use undertone_gossip::{RequestId, Topic};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{self as relay, Input, PublishError};

use super::addresses::without_peer_id;
use super::connections::PeerConnections;
use super::event_loop::EventLoop;
use super::peers::KnownPeer;
use super::publishing::{PendingPublish, PublishAnswer};
use super::rln::RlnService;
use crate::command::{
    Command, GossipSnapshot, MetricsSnapshot, NodeInfo, PeerSnapshot, PublishFailure,
    SubscribeFailure, TopicSnapshot,
};

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
                self.totals.left += u64::from(self.shards.leave(&topic));
                self.input(Input::Unsubscribe(topic));
                let _ = reply.send(Ok(()));
            }
            Command::Publish {
                pubsub_topic,
                message,
                for_client,
                reply,
            } => {
                if self.shards.joined().contains(&pubsub_topic) {
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
                let slots = self.swarm.behaviour_mut().admission.slots();
                slots.subscribes(peer, is_subscribed);
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
                self.dialling
                    .connect(address, given_by, reply, &mut self.swarm);
            }
            Command::SetStaticPeers { peers, reply } => {
                self.dialling
                    .set_static_peers(peers, &mut self.swarm, &self.peers);
                let _ = reply.send(());
            }
            Command::RenewCertificate { reply } => {
                self.reach.check_certificate(true);
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
        if self.shards.joined().contains(&topic) {
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
        let parts = self.publishing.parts_of(&message);
        let publishing = PendingPublish::new(topic, message, for_client, answer);
        self.publish_parts(publishing, parts, false);
    }

    /// Publishes a message, whole or in fragments. With `is_repeated`, the same message has been published before.
    pub(super) fn publish_parts(
        &mut self,
        publishing: PendingPublish,
        parts: Vec<WakuMessage>,
        is_repeated: bool,
    ) {
        // The relay compares the timestamp with its clock, and the wall clock may have been changed since.
        self.set_clock();
        let topic = publishing.topic().clone();
        let requests = self.publishing.begin(publishing, parts.len());
        for (request, message) in requests.zip(parts) {
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
        self.traces.published(request, &outcome);
        let Some((publishing, outcome)) = self.publishing.settled(request, outcome) else {
            return;
        };
        match &outcome {
            Ok(published) if published.peers > 0 => self.totals.published += 1,
            _ => self.totals.publish_failed += 1,
        }
        self.outward
            .after_deliveries(publishing.answer(outcome, &self.relay));
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

    fn info(&self) -> NodeInfo {
        let peer_id = *self.swarm.local_peer_id();
        let addresses = self.reach.announced_addresses(&self.swarm);
        // discv5 signs a record with the address at which other nodes see this one.
        let connections = self.connections.as_ref();
        let found = connections.and_then(|connections| connections.ports.record());
        let (record, shards) = (self.reach.record(), &self.shards);
        let own = || record.uri(&addresses, shards.cluster_id(), shards.joined());
        NodeInfo {
            peer_id,
            listen_addresses: addresses
                .iter()
                .map(|address| without_peer_id(address).with(Protocol::P2p(peer_id)))
                .collect(),
            enr_uri: found.or_else(own),
            subscriptions: shards.joined().iter().cloned().collect(),
            reachable: self.reach.reachable(),
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
        let cut_off: BTreeSet<_> = self.shards.cut_off().map(ToString::to_string).collect();
        let topic = |topic: &Topic| TopicSnapshot {
            topic: topic.as_str().to_owned(),
            mesh: router.mesh(topic).len(),
            subscribers: router.subscribers(topic).len(),
            is_cut_off: cut_off.contains(topic.as_str()),
            traffic: router.traffic(topic),
            payloads: PubsubTopic::parse_any(topic.as_str())
                .ok()
                .and_then(|topic| self.shards.payloads(&topic))
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
            certificate_expires_unix_s: self.reach.certificate_expires_unix_s(),
            reachable: self.reach.reachable(),
            nat: self.reach.totals(),
            rln: self.rln.as_ref().map(RlnService::snapshot),
            traces: self.traces.totals(),
        }
    }
}
