//! Event loop: waits for frames, timers, commands and events, and hands each to its handler.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures::StreamExt;
use libp2p::{PeerId, Swarm};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use undertone_gossip::{PeerIx, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{Input, Relay};
use undertone_services::metadata::MetadataExchange;

use super::connections::PeerConnections;
use super::events::{NodeEvent, TimedEvent};
use super::fallbacks::Fallbacks;
use super::fragmenter::Fragmenter;
use super::kept::KeptPeers;
use super::opened_ports::OpenedPorts;
use super::outputs::OutwardItem;
use super::passage::PassageState;
use super::peer_news::PeerNews;
use super::peers::PeerTable;
use super::record::NodeRecord;
use super::requests::{PendingDial, PendingPublish, ProofReply, PublishAnswer};
use super::rln::{RlnEvent, RlnService};
use super::runtime_load::RuntimeLoad;
use super::shard_changes::ShardChanges;
use super::shard_watch::ShardWatch;
use super::time::Clock;
use super::traced::MessageTraces;
use super::waiting_dials::WaitingDials;
use crate::command::{Command, NodeTotals, PayloadTotals, PublishFailure};
use crate::swarm::{Behaviour, Boxed, CertificateWatch, Gate, InTransit, Received, TrustedNames};

/// Interval at which named peers are looked after and scores are reported to admission.
pub(super) const REDIAL: Duration = Duration::from_secs(2);

/// Interval at which the offset between wall clock and virtual time is updated.
const CLOCK_SYNC: Duration = Duration::from_secs(10);

/// Maximum number of other events handled between two batches of frames, so that neither starves.
const OTHERS_PER_TURN: u32 = 32;

/// State of the event loop.
pub(crate) struct EventLoop {
    pub(crate) swarm: Swarm<Boxed<Behaviour>>,
    pub(crate) frames: mpsc::Receiver<Received>,
    pub(crate) relay: Relay,
    pub(crate) clock: Clock,
    pub(crate) runtime_load: RuntimeLoad,
    pub(crate) gate: Gate,
    pub(crate) in_transit: InTransit,
    pub(crate) peers: PeerTable,
    /// Budget of metadata of each peer.
    pub(crate) metadata_exchange: MetadataExchange<PeerId>,
    pub(crate) rln: Option<RlnService>,
    pub(crate) rln_events: mpsc::UnboundedReceiver<RlnEvent>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) deliveries: mpsc::UnboundedSender<OutwardItem>,
    pub(crate) events: Option<mpsc::UnboundedSender<TimedEvent>>,
    /// Channel for what the services need to know about peers.
    pub(crate) peer_news: Option<mpsc::UnboundedSender<PeerNews>>,
    pub(crate) network: &'static str,
    /// Whether the node offers a pubsub protocol.
    pub(crate) is_relay: bool,
    pub(crate) cluster_id: u16,
    /// Named peers that this node stays connected to.
    pub(crate) kept: KeptPeers,
    /// Host names that the operator has given.
    pub(crate) trusted_names: TrustedNames,
    pub(crate) fragmenter: Fragmenter,
    /// Publications in progress, by request id.
    pub(crate) publishing: BTreeMap<RequestId, PendingPublish>,
    /// Proofs that the accountable sender waits for.
    pub(crate) proofs_asked: BTreeMap<RequestId, ProofReply>,
    pub(crate) proving_since: BTreeMap<RequestId, Instant>,
    /// Number of the next request to the relay.
    pub(crate) next_request: u64,
    pub(crate) dialling: BTreeMap<libp2p::swarm::ConnectionId, PendingDial>,
    pub(crate) waiting_dials: WaitingDials,
    /// Addresses that are dialled if the QUIC addresses of the same peer fail.
    pub(crate) fallbacks: Fallbacks,
    pub(crate) joined: BTreeSet<PubsubTopic>,
    /// Inputs that follow from outputs; handled once the outputs are drained.
    pub(crate) follow_ups: Vec<Input>,
    pub(crate) totals: NodeTotals,
    /// Time from which on the log says again that peers are refused.
    pub(crate) refusals_quiet_until: Option<Instant>,
    /// Payloads of valid messages by topic, of the topics that the node ever joined.
    pub(crate) payloads: BTreeMap<PubsubTopic, PayloadTotals>,
    /// Own message that was delivered last.
    pub(crate) last_own: Option<WakuMessage>,
    /// Whether an own message is being published that was delivered before.
    pub(crate) is_repeating: bool,
    /// Connection manager of a node that finds its peers; `None` without discovery.
    pub(crate) connections: Option<PeerConnections>,
    /// Watch over the files of the WebSocket port's certificate.
    pub(crate) certificate: Option<CertificateWatch>,
    /// Whether others are told only of the addresses that the operator announces.
    pub(crate) hides_listening: bool,
    /// Ports that the router in front of the node has opened.
    pub(crate) ports: OpenedPorts,
    /// Whether others reach this node, and through which relays.
    pub(crate) passage: PassageState,
    /// Signed record (ENR) of the node.
    pub(crate) record: NodeRecord,
    /// Peers that were counted when their score fell below the graylist threshold, and have not recovered.
    pub(crate) graylisted: BTreeSet<PeerIx>,
    /// Watch over the shards on which no message can be relayed.
    pub(crate) shards: ShardWatch,
    /// Shards that have changed while connections lasted.
    pub(crate) shard_changes: ShardChanges,
    /// Spans of messages and dials.
    pub(crate) traces: MessageTraces,
}

impl EventLoop {
    /// Runs until a shutdown command or until every handle is dropped.
    pub(crate) async fn run(mut self) {
        let mut redial = tokio::time::interval(REDIAL);
        redial.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut clock_sync = tokio::time::interval(CLOCK_SYNC);
        clock_sync.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut others_left: u32 = 0;
        loop {
            let manager_wake = PeerConnections::next_timeout(self.connections.as_ref());
            let wake = self
                .clock
                .instant(self.relay.next_timeout().min(manager_wake));
            let others_turn = others_left > 0;
            let takes_frames = !others_turn && !self.relay.is_saturated();
            others_left = others_left.saturating_sub(1);
            let sends = tokio::select! {
                biased;
                Some(first) = self.frames.recv(), if takes_frames => {
                    self.on_frames(first);
                    others_left = OTHERS_PER_TURN;
                    true
                }
                () = tokio::time::sleep_until(wake.into()) => {
                    self.input(Input::Tick);
                    if manager_wake <= self.clock.now() {
                        self.manage(undertone_peers::Input::Tick);
                    }
                    false
                }
                offer = PeerConnections::next_offer(self.connections.as_mut()) => {
                    self.found(offer);
                    false
                }
                Some(event) = self.rln_events.recv() => {
                    self.on_rln_event(event);
                    true
                }
                event = self.swarm.select_next_some() => {
                    self.on_swarm_event(event);
                    false
                }
                news = self.ports.next() => {
                    self.on_port_news(news);
                    false
                }
                _ = redial.tick() => {
                    self.tell_scores();
                    self.redial();
                    self.watch_shards();
                    self.look_after_passage();
                    self.tell_shard_changes();
                    self.tell_connections();
                    self.check_certificate(false);
                    false
                }
                _ = clock_sync.tick() => {
                    self.set_clock();
                    let runtime = Handle::current().metrics();
                    self.runtime_load.sample(Instant::now(), &runtime);
                    false
                }
                command = self.commands.recv() => match command {
                    None => break,
                    Some(Command::Shutdown { reply }) => {
                        self.stop().await;
                        // The caller may be gone; the node stops all the same.
                        let _ = reply.send(());
                        return;
                    }
                    Some(command) => {
                        self.on_command(command);
                        true
                    }
                },
                () = std::future::ready(()), if others_turn => {
                    others_left = 0;
                    false
                }
            };
            if sends {
                // Connection tasks write their frames first, because anything else would delay messages.
                tokio::task::yield_now().await;
            }
        }
        self.stop().await;
    }

    /// Lets the last frames leave and stops the threads; dropping the loop then closes the connections. Topics
    /// are not left first: their PRUNEs carry a backoff, which neighbours would hold against a restarted node.
    /// The end of its connections tells them enough.
    async fn stop(&mut self) {
        let goodbye = tokio::time::sleep(Duration::from_millis(100));
        tokio::pin!(goodbye);
        loop {
            tokio::select! {
                _ = self.swarm.select_next_some() => {}
                () = &mut goodbye => break,
            }
        }
        self.close_connections().await;
        self.ports.give_back().await;
        for (_, publishing) in std::mem::take(&mut self.publishing) {
            let stopping = PublishFailure::ShuttingDown;
            match publishing.answer {
                PublishAnswer::Caller(reply) => drop(reply.send(Err(stopping))),
                PublishAnswer::First(reply) => drop(reply.send(Err(stopping))),
            }
        }
        if let Some(rln) = self.rln.take() {
            // A proof in progress may ask whether an id is taken, and would wait for the answer for ever.
            self.rln_events.close();
            while self.rln_events.recv().await.is_some() {}
            rln.stop();
        }
        tracing::info!("stopped");
    }

    pub(crate) fn set_clock(&mut self) {
        let unix_ns_at_zero = self.clock.unix_ns_at_zero();
        self.input(Input::ClockSet { unix_ns_at_zero });
    }

    /// Gives the relay an input, carries out its outputs, and handles the inputs that follow.
    pub(crate) fn input(&mut self, input: Input) {
        self.report_transfers();
        self.handle(input);
        while let Some(follow_up) = self.follow_ups.pop() {
            self.handle(follow_up);
        }
        if self.relay.wants_roots()
            && let Some(rln) = &self.rln
        {
            rln.request_refresh();
        }
    }

    pub(crate) fn handle(&mut self, input: Input) {
        if let Err(misuse) = self.relay.handle(self.clock.now(), input) {
            // A fault of the driver itself; no peer can cause it.
            tracing::error!(%misuse, "the driver misused the relay");
            debug_assert!(false, "the driver misused the relay: {misuse}");
        }
        while let Some(output) = self.relay.poll() {
            self.output(output);
        }
    }

    /// Does something once the application has what was delivered before, such as a message that it hears is published.
    pub(crate) fn after_deliveries(&self, action: impl FnOnce() + Send + 'static) {
        // The delivery task lives as long as the runtime that this runs on.
        let _ = self.deliveries.send(OutwardItem::Then(Box::new(action)));
    }

    pub(crate) fn event(&mut self, event: NodeEvent) {
        if let Some(events) = &self.events {
            // The observer may have stopped.
            let at = Instant::now();
            let _ = events.send(TimedEvent { at, event });
        }
    }

    pub(crate) fn tell_services(&self, news: PeerNews) {
        if let Some(services) = &self.peer_news {
            // The services may have ended.
            let _ = services.send(news);
        }
    }
}
