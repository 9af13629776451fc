//! Driver of the services' host: one task that passes events to it and carries out its outputs.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use libp2p::PeerId;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use undertone_archive::Archive;
use undertone_gossip::Time;
use undertone_services::RequestNo;
use undertone_services::history::{HistoryQuery, StoredMessage};
use undertone_services::host::{Input, Output, RequestProtocol, ServiceHost};

use super::acceptor::PeerRequest;
use super::finished_work::FinishedWork;
use super::peers::PeerNumbers;
use super::publisher::Publisher;
use super::pusher::Pusher;
use super::rendezvous::is_record_of;
use super::totals::ServiceTotals;
use undertone_network::swarm::StreamOpener;

mod questions;

/// Maximum sleep between two checks of the host's timer.
const IDLE: Duration = Duration::from_secs(3_600);

/// Number of known peers above which unused ones are forgotten. The threshold is at least this, or twice the number in
/// use last time, so that the cost per request is bounded.
const PEERS_MAX: usize = 4_096;

/// Maximum number of requests and messages waiting for the host; further ones wait in their tasks.
const QUEUE_MAX: usize = 1_024;

/// Host, and parts of the node that its driver uses.
pub(super) struct HostParts {
    pub(super) host: ServiceHost<oneshot::Sender<Bytes>>,
    /// Archive, if the host has a store.
    pub(super) archive: Option<Archive>,
    pub(super) publisher: Publisher,
    pub(super) streams: StreamOpener,
    pub(super) totals: ServiceTotals,
    pub(super) gone: mpsc::UnboundedReceiver<PeerId>,
    /// Records of nodes for peer exchange, raw RLP.
    pub(super) known: watch::Receiver<Vec<Bytes>>,
}

/// A host that runs until all its request queues are closed.
pub(super) struct RunningHost {
    /// The driver, which others may read between two events.
    pub(super) driver: Weak<Mutex<HostDriver>>,
    pub(super) requests: mpsc::Sender<PeerRequest>,
    /// Valid messages of the relay.
    pub(super) messages: mpsc::Sender<StoredMessage>,
}

/// Driver of the services' host.
pub(super) struct HostDriver {
    started: Instant,
    host: ServiceHost<oneshot::Sender<Bytes>>,
    archive: Option<Archive>,
    publisher: Publisher,
    pusher: Pusher,
    peers: PeerNumbers,
    forget_peers_from: usize,
    totals: ServiceTotals,
    done: mpsc::UnboundedSender<FinishedWork>,
}

impl HostDriver {
    /// Starts to drive a host.
    pub(super) fn start(parts: HostParts) -> RunningHost {
        let (requests_in, requests) = mpsc::channel(QUEUE_MAX);
        let (messages_in, messages) = mpsc::channel(QUEUE_MAX);
        let (done, results) = mpsc::unbounded_channel();
        let driver = Arc::new(Mutex::new(Self {
            started: Instant::now(),
            host: parts.host,
            archive: parts.archive,
            publisher: parts.publisher,
            pusher: Pusher::new(parts.streams, done.clone()),
            peers: PeerNumbers::default(),
            forget_peers_from: PEERS_MAX,
            totals: parts.totals,
            done,
        }));
        let running = RunningHost {
            driver: Arc::downgrade(&driver),
            requests: requests_in,
            messages: messages_in,
        };
        let (gone, known) = (parts.gone, parts.known);
        tokio::spawn(Self::run(driver, requests, messages, gone, results, known));
        running
    }

    async fn run(
        host: Arc<Mutex<Self>>,
        mut requests: mpsc::Receiver<PeerRequest>,
        mut messages: mpsc::Receiver<StoredMessage>,
        mut gone: mpsc::UnboundedReceiver<PeerId>,
        mut results: mpsc::UnboundedReceiver<FinishedWork>,
        mut known: watch::Receiver<Vec<Bytes>>,
    ) {
        loop {
            let wake = host.lock().wake();
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => host.lock().on_request(request),
                    None => return,
                },
                Some(message) = messages.recv() => host.lock().on_message(message),
                Some(peer) = gone.recv() => host.lock().on_gone(peer),
                // Without discovery, this reports at once that nothing will ever be known.
                Ok(()) = known.changed() => {
                    let known = known.borrow_and_update().clone();
                    host.lock().give(Input::Known(known));
                }
                Some(done) = results.recv() => host.lock().on_done(done),
                () = tokio::time::sleep_until(wake.into()) => host.lock().give(Input::Tick),
            }
            host.lock().carry_out();
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.after(self.started.elapsed())
    }

    /// Returns the instant of the host's next timeout.
    fn wake(&self) -> Instant {
        let idle = Instant::now() + IDLE;
        self.host.next_timeout().map_or(idle, |at| {
            idle.min(self.started + Duration::from_nanos(at.as_nanos()))
        })
    }

    fn give(&mut self, input: Input<oneshot::Sender<Bytes>>) {
        self.host.handle(self.now(), input);
    }

    fn on_request(&mut self, asked: PeerRequest) {
        let PeerRequest {
            peer: identity,
            protocol,
            bytes,
            held,
            reply: to,
        } = asked;
        if self.peers.len() >= self.forget_peers_from {
            self.forget_peers();
        }
        let peer = self.peers.number(identity);
        self.give(Input::Request {
            peer,
            to,
            protocol,
            bytes,
        });
        if protocol == RequestProtocol::Filter {
            let is_subscribed = self.host.is_subscribed(self.now(), peer);
            self.publisher
                .node()
                .note_subscriber(identity, is_subscribed);
            if is_subscribed {
                self.pusher.prepare(peer, identity);
            }
        }
        drop(held);
    }

    fn on_message(&mut self, message: StoredMessage) {
        let begun = Instant::now();
        self.give(Input::Message(message));
        self.totals.filter_times.count(begun.elapsed());
    }

    fn on_gone(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.find(peer) {
            self.pusher.forget(peer);
            self.give(Input::PeerGone(peer));
        }
    }

    fn on_done(&mut self, done: FinishedWork) {
        match done {
            FinishedWork::Page {
                query,
                result,
                took,
            } => {
                self.totals.query_times.count(took);
                self.give(Input::Page { query, result });
            }
            FinishedWork::Published { publish, outcome } => {
                self.give(Input::Published { publish, outcome });
            }
            FinishedWork::Pushed { peer, delivered } => {
                self.give(Input::Pushed { peer, delivered });
            }
            FinishedWork::Idle { peer } => self.pusher.forget_ended(peer),
        }
    }

    /// Carries out the host's outputs.
    fn carry_out(&mut self) {
        while let Some(output) = self.host.poll() {
            match output {
                Output::Respond { to, bytes } => {
                    // The peer may have closed its stream.
                    let _ = to.send(bytes);
                }
                // Dropping the reply channel closes the stream.
                Output::Close { to } => drop(to),
                Output::Query { query, content } => self.query(query, content),
                Output::Push { peer, bytes } => {
                    if let Some(identity) = self.peers.peer(peer) {
                        self.pusher.push(peer, identity, bytes);
                    }
                }
                Output::Drop { peer } => self.pusher.forget(peer),
                // Verified right here: that is faster than passing the record to another thread.
                Output::CheckRecord {
                    check,
                    peer,
                    record,
                } => {
                    let peer = self.peers.peer(peer);
                    let is_valid = peer.is_some_and(|peer| is_record_of(peer, &record));
                    self.give(Input::RecordChecked { check, is_valid });
                }
                Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                } => {
                    let (publisher, done) = (self.publisher.clone(), self.done.clone());
                    tokio::spawn(async move {
                        let outcome = publisher.publish(&pubsub_topic, message).await;
                        // The driver may have ended.
                        let _ = done.send(FinishedWork::Published { publish, outcome });
                    });
                }
            }
        }
    }

    fn query(&mut self, query: RequestNo, content: HistoryQuery) {
        let Some(archive) = self.archive.clone() else {
            return;
        };
        let done = self.done.clone();
        tokio::spawn(async move {
            let begun = Instant::now();
            let page = archive.query(content).await;
            let result = page.map_err(super::calls::history_error);
            let took = begun.elapsed();
            // The driver may have ended.
            let _ = done.send(FinishedWork::Page {
                query,
                result,
                took,
            });
        });
    }

    /// Forgets the numbers of unused peers.
    fn forget_peers(&mut self) {
        let now = self.now();
        let (host, pusher) = (&self.host, &self.pusher);
        self.peers
            .retain(|peer| host.is_bound(now, peer) || pusher.pushes_to(peer));
        self.forget_peers_from = PEERS_MAX.max(2 * self.peers.len());
    }
}
