//! Event loop: waits for frames, timers, commands and events, and hands each to its handler.

use std::time::{Duration, Instant};

use futures::StreamExt;
use libp2p::PeerId;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use undertone_message::PubsubTopic;
use undertone_relay::{Input, Relay};
use undertone_services::metadata::MetadataExchange;

use super::connections::PeerConnections;
use super::dialling::Dialling;
use super::outward::Outward;
use super::peers::PeerTable;
use super::publishing::Publishing;
use super::reach::Reach;
use super::rln::{RlnEvent, RlnService};
use super::runtime_load::RuntimeLoad;
use super::shards::Shards;
use super::spans::MessageTraces;
use super::time::Clock;
use crate::command::{Command, NodeTotals, SubscribeFailure};
use crate::swarm::{Gate, InTransit, NodeSwarm, Received};

/// Interval at which missing named peers are redialled and scores are reported to admission.
pub(super) const REDIAL: Duration = Duration::from_secs(2);

/// Interval at which the offset between wall clock and virtual time is updated.
const CLOCK_SYNC: Duration = Duration::from_secs(10);

/// Maximum number of other events handled between two batches of frames, so that neither starves.
const OTHERS_PER_TURN: u32 = 32;

/// Time for connections to be closed when the node stops.
const CLOSING: Duration = Duration::from_millis(100);

/// State of the event loop.
pub(crate) struct EventLoop {
    pub(super) swarm: NodeSwarm,
    pub(super) frames: mpsc::Receiver<Received>,
    pub(super) relay: Relay,
    pub(super) clock: Clock,
    pub(super) runtime_load: RuntimeLoad,
    pub(super) gate: Gate,
    pub(super) in_transit: InTransit,
    pub(super) peers: PeerTable,
    /// Metadata request budget of each peer.
    pub(super) metadata_exchange: MetadataExchange<PeerId>,
    pub(super) rln: Option<RlnService>,
    pub(super) rln_events: mpsc::UnboundedReceiver<RlnEvent>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) outward: Outward,
    pub(super) network: &'static str,
    /// Whether the node offers a pubsub protocol.
    pub(super) is_relay: bool,
    pub(super) publishing: Publishing,
    pub(super) dialling: Dialling,
    /// Inputs that follow from outputs; handled once the outputs are drained.
    pub(super) follow_ups: Vec<Input>,
    pub(super) totals: NodeTotals,
    /// Connection manager of a node that finds its peers; `None` without discovery.
    pub(super) connections: Option<PeerConnections>,
    pub(super) reach: Reach,
    pub(super) shards: Shards,
    /// Spans of messages.
    pub(super) traces: MessageTraces,
}

impl EventLoop {
    /// Joins the first topics, and looks for the first peers.
    pub(super) fn begin(&mut self, topics: Vec<PubsubTopic>) -> Result<(), SubscribeFailure> {
        self.set_clock();
        self.dialling.exempt_kept_peers(&mut self.swarm);
        for topic in topics {
            self.subscribe(topic)?;
        }
        self.dialling.redial(&mut self.swarm, &self.peers);
        self.reach.maintain(&mut self.swarm, &self.peers);
        self.publish_connections();
        Ok(())
    }

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
                news = self.reach.ports().next() => {
                    self.reach.ports().on_news(news, &mut self.swarm);
                    self.publish_connections();
                    false
                }
                _ = redial.tick() => {
                    self.publish_scores();
                    self.dialling.redial(&mut self.swarm, &self.peers);
                    self.watch_shards();
                    self.reach.maintain(&mut self.swarm, &self.peers);
                    self.publish_shard_changes();
                    self.publish_connections();
                    self.reach.check_certificate(false);
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
        self.reach.ports().give_back().await;
        self.publishing.stop();
        if let Some(rln) = self.rln.take() {
            // A proof in progress may ask whether an id is taken, and would wait for the answer for ever.
            self.rln_events.close();
            while self.rln_events.recv().await.is_some() {}
            rln.stop();
        }
        tracing::info!("stopped");
    }

    /// Closes all connections, so that peers need not wait for a timeout. The kernel closes TCP connections when the
    /// process ends, but knows nothing of QUIC ones.
    async fn close_connections(&mut self) {
        let connected: Vec<_> = self.swarm.connected_peers().copied().collect();
        for peer in connected {
            // The connection may have ended since.
            let _ = self.swarm.disconnect_peer_id(peer);
        }
        let closing = async {
            while self.swarm.connected_peers().next().is_some() {
                self.swarm.select_next_some().await;
            }
        };
        // A peer that does not read must not delay the stop.
        let _ = tokio::time::timeout(CLOSING, closing).await;
    }

    pub(crate) fn set_clock(&mut self) {
        let unix_ns_at_zero = self.clock.unix_ns_at_zero();
        self.input(Input::ClockSet { unix_ns_at_zero });
    }

    /// Passes an input to the relay, carries out its outputs, and handles the inputs that follow.
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
            // A bug of the driver itself; no peer can cause it.
            tracing::error!(%misuse, "the driver misused the relay");
            debug_assert!(false, "the driver misused the relay: {misuse}");
        }
        while let Some(output) = self.relay.poll() {
            self.output(output);
        }
    }
}
