//! Host of the services: one task that owns their machines and carries out what they ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use libp2p::{PeerId, StreamProtocol};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use undertone_archive::Archive;
use undertone_gossip::Time;
use undertone_services::filter::{self, FilterServer};
use undertone_services::history::StoredMessage;
use undertone_services::lightpush::{self, LightpushServer};
use undertone_services::peer_exchange::{self, PeerExchangeServer};
use undertone_services::rendezvous::{self, RendezvousServer};
use undertone_services::store::{self, StoreServer};
use undertone_services::{PeerNo, RequestNo};

use super::acceptor::PeerRequest;
use super::finished_work::FinishedWork;
use super::limiters::ServiceLimiters;
use super::peers::PeerNumbers;
use super::publisher::Publisher;
use super::pusher::Pusher;
use super::rendezvous::is_record_of;
use super::totals::ServiceTotals;

mod questions;

/// Longest sleep between two looks at the machines' timers.
const IDLE: Duration = Duration::from_secs(3_600);

/// Number of peers with numbers from which on unused ones are forgotten, or twice as many as were in use the
/// last time, so that each request pays for a bounded part of the search.
const PEERS_MAX: usize = 4_096;

/// Channels on which the host is asked and told.
pub(super) struct HostChannels {
    pub(super) requests: mpsc::Receiver<PeerRequest>,
    pub(super) messages: mpsc::Receiver<StoredMessage>,
    pub(super) gone: mpsc::UnboundedReceiver<PeerId>,
    pub(super) results: mpsc::UnboundedReceiver<FinishedWork>,
    /// Records of nodes for peer exchange, raw RLP.
    pub(super) known: watch::Receiver<Vec<Bytes>>,
}

/// Machines of the services that are mounted.
pub(super) struct Machines {
    pub(super) store: Option<(StoreServer, Archive)>,
    pub(super) filter: Option<FilterServer>,
    pub(super) lightpush: Option<LightpushServer>,
    pub(super) exchange: Option<PeerExchangeServer>,
    pub(super) rendezvous: Option<RendezvousServer>,
}

/// Request of a peer that has not been answered.
struct PendingRequest {
    peer: PeerNo,
    protocol: StreamProtocol,
    reply: oneshot::Sender<Bytes>,
}

/// Host of the services.
pub(super) struct ServicesHost {
    started: Instant,
    machines: Machines,
    limiters: ServiceLimiters,
    publisher: Publisher,
    pusher: Pusher,
    peers: PeerNumbers,
    forget_peers_from: usize,
    next_request: u64,
    waiting: BTreeMap<RequestNo, PendingRequest>,
    totals: ServiceTotals,
    done: mpsc::UnboundedSender<FinishedWork>,
}

impl ServicesHost {
    pub(super) fn new(
        machines: Machines,
        limiters: ServiceLimiters,
        publisher: Publisher,
        pusher: Pusher,
        totals: ServiceTotals,
        done: mpsc::UnboundedSender<FinishedWork>,
    ) -> Self {
        Self {
            started: Instant::now(),
            machines,
            limiters,
            publisher,
            pusher,
            peers: PeerNumbers::default(),
            forget_peers_from: PEERS_MAX,
            next_request: 0,
            waiting: BTreeMap::new(),
            totals,
            done,
        }
    }

    /// Runs until the node stops. Between two events, others may read the host.
    pub(super) async fn run(host: Arc<Mutex<Self>>, channels: HostChannels) {
        let HostChannels {
            mut requests,
            mut messages,
            mut gone,
            mut results,
            mut known,
        } = channels;
        loop {
            let wake = host.lock().wake();
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => host.lock().on_request(request),
                    None => return,
                },
                Some(message) = messages.recv() => host.lock().on_message(message),
                Some(peer) = gone.recv() => host.lock().on_gone(peer),
                // Without discovery, this says at once that nothing will ever be known.
                Ok(()) = known.changed() => host.lock().on_known(known.borrow_and_update().clone()),
                Some(done) = results.recv() => host.lock().on_done(done),
                () = tokio::time::sleep_until(wake.into()) => host.lock().on_tick(),
            }
            host.lock().carry_out();
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.after(self.started.elapsed())
    }

    /// Instant of the first timer.
    fn wake(&self) -> Instant {
        let store = self.machines.store.as_ref();
        let timers = [
            store.and_then(|(store, _)| store.next_timeout()),
            self.machines
                .filter
                .as_ref()
                .and_then(FilterServer::next_timeout),
            self.machines
                .lightpush
                .as_ref()
                .and_then(LightpushServer::next_timeout),
            self.machines
                .rendezvous
                .as_ref()
                .and_then(RendezvousServer::next_timeout),
        ];
        let first = timers.into_iter().flatten().min();
        let idle = Instant::now() + IDLE;
        first.map_or(idle, |first| {
            idle.min(self.started + Duration::from_nanos(first.as_nanos()))
        })
    }

    fn on_request(&mut self, asked: PeerRequest) {
        let PeerRequest {
            peer,
            protocol,
            bytes,
            held,
            reply,
        } = asked;
        let now = self.now();
        if self.peers.len() >= self.forget_peers_from {
            self.forget_peers();
        }
        let is_allowed = self.limiters.allow(now, protocol.as_ref(), peer);
        self.totals
            .count_request(protocol.as_ref(), is_allowed, bytes.len());
        let peer = self.peers.number(peer);
        let request = RequestNo(self.next_request);
        self.next_request += 1;
        let waiting = PendingRequest {
            peer,
            protocol: protocol.clone(),
            reply,
        };
        self.waiting.insert(request, waiting);
        let machines = &mut self.machines;
        match protocol.as_ref() {
            store::PROTOCOL_ID => {
                if let Some((store, _)) = &mut machines.store {
                    let input = match is_allowed {
                        true => store::server::Input::Request {
                            peer,
                            request,
                            bytes,
                        },
                        false => store::server::Input::TooMany { request },
                    };
                    store.handle(now, input);
                }
            }
            filter::SUBSCRIBE_PROTOCOL_ID => {
                if let Some(filter) = &mut machines.filter {
                    let input = match is_allowed {
                        true => filter::Input::Request {
                            peer,
                            request,
                            bytes,
                        },
                        false => filter::Input::TooMany { request },
                    };
                    filter.handle(now, input);
                    if let Some(identity) = self.peers.peer(peer) {
                        let is_subscribed = filter.is_subscribed(now, peer);
                        self.publisher
                            .node()
                            .note_subscriber(identity, is_subscribed);
                        if is_subscribed {
                            self.pusher.prepare(peer, identity);
                        }
                    }
                }
            }
            id @ (lightpush::PROTOCOL_ID | lightpush::legacy::PROTOCOL_ID) => {
                if let Some(lightpush) = &mut machines.lightpush {
                    let version = match id == lightpush::PROTOCOL_ID {
                        true => lightpush::PushVersion::V3,
                        false => lightpush::PushVersion::V2,
                    };
                    let input = match is_allowed {
                        true => lightpush::Input::Request {
                            peer,
                            request,
                            version,
                            bytes,
                        },
                        false => lightpush::Input::TooMany { request, version },
                    };
                    lightpush.handle(now, input);
                }
            }
            peer_exchange::PROTOCOL_ID => {
                if let Some(exchange) = &mut machines.exchange {
                    let input = match is_allowed {
                        true => peer_exchange::Input::Request { request, bytes },
                        false => peer_exchange::Input::TooMany { request },
                    };
                    exchange.handle(now, input);
                }
            }
            rendezvous::PROTOCOL_ID => {
                if let Some(rendezvous) = &mut machines.rendezvous {
                    let input = match is_allowed {
                        true => rendezvous::Input::Request {
                            peer,
                            request,
                            bytes,
                        },
                        false => rendezvous::Input::TooMany { request, bytes },
                    };
                    rendezvous.handle(now, input);
                }
            }
            // The acceptor accepts no other protocol.
            _ => {}
        }
        drop(held);
    }

    fn on_message(&mut self, message: StoredMessage) {
        let now = self.now();
        if let Some(filter) = &mut self.machines.filter {
            let begun = Instant::now();
            filter.handle(now, filter::Input::Message { message });
            self.totals.filter_times.count(begun.elapsed());
        }
    }

    fn on_known(&mut self, enrs: Vec<Bytes>) {
        let now = self.now();
        if let Some(exchange) = &mut self.machines.exchange {
            exchange.handle(now, peer_exchange::Input::Known { enrs });
        }
    }

    fn on_gone(&mut self, peer: PeerId) {
        let now = self.now();
        let Some(peer) = self.peers.find(peer) else {
            return;
        };
        self.waiting.retain(|_, waiting| waiting.peer != peer);
        self.pusher.forget(peer);
        let machines = &mut self.machines;
        if let Some((store, _)) = &mut machines.store {
            store.handle(now, store::server::Input::PeerGone(peer));
        }
        if let Some(filter) = &mut machines.filter {
            filter.handle(now, filter::Input::PeerGone(peer));
        }
        if let Some(lightpush) = &mut machines.lightpush {
            lightpush.handle(now, lightpush::Input::PeerGone(peer));
        }
        if let Some(rendezvous) = &mut machines.rendezvous {
            rendezvous.handle(now, rendezvous::Input::PeerGone(peer));
        }
    }

    fn on_done(&mut self, done: FinishedWork) {
        let now = self.now();
        let machines = &mut self.machines;
        match done {
            FinishedWork::Page {
                query,
                result,
                took,
            } => {
                self.totals.query_times.count(took);
                if let Some((store, _)) = &mut machines.store {
                    store.handle(now, store::server::Input::Page { query, result });
                }
            }
            FinishedWork::Published { publish, outcome } => {
                if let Some(lightpush) = &mut machines.lightpush {
                    lightpush.handle(now, lightpush::Input::Published { publish, outcome });
                }
            }
            FinishedWork::Pushed { peer, delivered } => {
                if let Some(filter) = &mut machines.filter {
                    filter.handle(now, filter::Input::Pushed { peer, delivered });
                }
            }
            FinishedWork::Idle { peer } => self.pusher.forget_ended(peer),
        }
    }

    fn on_tick(&mut self) {
        let now = self.now();
        let machines = &mut self.machines;
        if let Some((store, _)) = &mut machines.store {
            store.handle(now, store::server::Input::Tick);
        }
        if let Some(filter) = &mut machines.filter {
            filter.handle(now, filter::Input::Tick);
        }
        if let Some(lightpush) = &mut machines.lightpush {
            lightpush.handle(now, lightpush::Input::Tick);
        }
        if let Some(rendezvous) = &mut machines.rendezvous {
            rendezvous.handle(now, rendezvous::Input::Tick);
        }
    }

    /// Carries out what the machines ask for.
    fn carry_out(&mut self) {
        while let Some(output) = self
            .machines
            .store
            .as_mut()
            .and_then(|(store, _)| store.poll())
        {
            match output {
                store::server::Output::Respond { request, bytes } => self.respond(request, bytes),
                store::server::Output::Query { query, content } => self.query(query, content),
            }
        }
        while let Some(output) = self.machines.filter.as_mut().and_then(FilterServer::poll) {
            match output {
                filter::Output::Respond { request, bytes } => self.respond(request, bytes),
                filter::Output::Push { peer, bytes } => self.push(peer, bytes),
                filter::Output::Drop { peer } => self.pusher.forget(peer),
            }
        }
        while let Some(output) = self
            .machines
            .exchange
            .as_mut()
            .and_then(PeerExchangeServer::poll)
        {
            let peer_exchange::Output::Respond { request, bytes } = output;
            self.respond(request, bytes);
        }
        while let Some(output) = self
            .machines
            .rendezvous
            .as_mut()
            .and_then(RendezvousServer::poll)
        {
            match output {
                rendezvous::Output::Respond { request, bytes } => self.respond(request, bytes),
                // The stream is closed with what waits for the answer.
                rendezvous::Output::Close { request } => drop(self.waiting.remove(&request)),
                rendezvous::Output::CheckRecord {
                    request,
                    peer,
                    record,
                } => self.check_record(request, peer, &record),
            }
        }
        while let Some(output) = self
            .machines
            .lightpush
            .as_mut()
            .and_then(LightpushServer::poll)
        {
            match output {
                lightpush::Output::Respond { request, bytes } => self.respond(request, bytes),
                lightpush::Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                } => {
                    let (publisher, done) = (self.publisher.clone(), self.done.clone());
                    tokio::spawn(async move {
                        let outcome = publisher.publish(&pubsub_topic, message).await;
                        // The host may have ended.
                        let _ = done.send(FinishedWork::Published { publish, outcome });
                    });
                }
            }
        }
    }

    fn respond(&mut self, request: RequestNo, bytes: Bytes) {
        if let Some(waiting) = self.waiting.remove(&request) {
            let protocol = waiting.protocol.as_ref();
            self.totals.count_sent(protocol, bytes.len());
            // The peer may have closed its stream.
            let _ = waiting.reply.send(bytes);
        }
    }

    /// Verifies a signed record at once: it takes less than handing it to another thread.
    fn check_record(&mut self, request: RequestNo, peer: PeerNo, record: &[u8]) {
        let (now, peer) = (self.now(), self.peers.peer(peer));
        let is_valid = peer.is_some_and(|peer| is_record_of(peer, record));
        if let Some(rendezvous) = &mut self.machines.rendezvous {
            rendezvous.handle(now, rendezvous::Input::RecordChecked { request, is_valid });
        }
    }

    fn query(&mut self, query: RequestNo, content: undertone_services::history::HistoryQuery) {
        let Some((_, archive)) = &self.machines.store else {
            return;
        };
        let (archive, done) = (archive.clone(), self.done.clone());
        tokio::spawn(async move {
            let begun = Instant::now();
            let page = archive.query(content).await;
            let result = page.map_err(super::calls::history_error);
            let took = begun.elapsed();
            // The host may have ended.
            let _ = done.send(FinishedWork::Page {
                query,
                result,
                took,
            });
        });
    }

    fn push(&mut self, peer: PeerNo, bytes: Bytes) {
        if let Some(identity) = self.peers.peer(peer) {
            self.totals
                .count_sent(filter::PUSH_PROTOCOL_ID, bytes.len());
            self.pusher.push(peer, identity, bytes);
        }
    }

    /// Forgets the numbers of peers that nothing refers to.
    fn forget_peers(&mut self) {
        let now = self.now();
        let askers: BTreeSet<_> = self.waiting.values().map(|waiting| waiting.peer).collect();
        let (pusher, filter) = (&self.pusher, &self.machines.filter);
        let rendezvous = &self.machines.rendezvous;
        self.peers.retain(|peer| {
            let is_subscribed = filter.as_ref().is_some_and(|f| f.is_subscribed(now, peer));
            let is_registered = rendezvous.as_ref().is_some_and(|r| r.is_registered(peer));
            let is_named = askers.contains(&peer) || is_subscribed || is_registered;
            is_named || pusher.pushes_to(peer)
        });
        self.forget_peers_from = PEERS_MAX.max(2 * self.peers.len());
    }
}
