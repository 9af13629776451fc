//! The servers of store, filter, lightpush, peer exchange and rendezvous: requests of strangers, answers of the driver, and
//! messages, in any order. Each request is answered once at most.
#![no_main]

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, rng};
use undertone_gossip::Time;
use undertone_message::WakuMessage;
use undertone_services::history::{
    HistoryData, HistoryEntry, HistoryError, HistoryPage, StoredMessage,
};
use undertone_services::sharding::Sharding;
use undertone_services::{PeerNo, RequestNo, filter, lightpush, peer_exchange, rendezvous, store};

const PEERS: u8 = 4;
const SHARDING: Sharding = Sharding {
    cluster: 1,
    num_shards: std::num::NonZeroU16::new(8),
};

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut machine = Machine::default();
    while !reader.is_empty() {
        machine.next(&mut reader);
        machine.drain();
    }
});

struct Machine {
    now: Time,
    store: store::StoreServer,
    filter: filter::FilterServer,
    lightpush: lightpush::LightpushServer,
    exchange: peer_exchange::PeerExchangeServer,
    rendezvous: rendezvous::RendezvousServer,
    filter_limits: filter::FilterLimits,
    requests: u64,
    open: BTreeSet<RequestNo>,
    queries: VecDeque<RequestNo>,
    publishing: VecDeque<RequestNo>,
    pushing: VecDeque<PeerNo>,
    records: VecDeque<RequestNo>,
}

impl Default for Machine {
    fn default() -> Self {
        let mut limits = filter::FilterLimits::default();
        limits.max_peers = 3;
        limits.max_criteria_per_peer = 4;
        limits.max_seen = 4;
        limits.max_pushes_per_peer = 2;
        limits.max_push_bytes = 300;
        Self {
            now: Time::ZERO,
            store: store::StoreServer::new(store::ServerLimits::default()),
            filter: filter::FilterServer::new(SHARDING, limits),
            lightpush: lightpush::LightpushServer::new(
                SHARDING,
                lightpush::LightpushLimits::default(),
            ),
            exchange: peer_exchange::PeerExchangeServer::new(
                rng(),
                peer_exchange::PeerExchangeLimits::default(),
            ),
            rendezvous: rendezvous::RendezvousServer::new(
                1,
                rng(),
                rendezvous::RendezvousLimits::default(),
            ),
            filter_limits: limits,
            requests: 0,
            open: BTreeSet::new(),
            queries: VecDeque::new(),
            publishing: VecDeque::new(),
            pushing: VecDeque::new(),
            records: VecDeque::new(),
        }
    }
}

impl Machine {
    fn request(&mut self) -> RequestNo {
        self.requests += 1;
        let request = RequestNo(self.requests);
        self.open.insert(request);
        request
    }

    fn answered(&mut self, request: RequestNo) {
        assert!(self.open.remove(&request), "{request:?} is answered twice");
    }

    fn next(&mut self, reader: &mut Reader<'_>) {
        let (kind, now) = (reader.byte(), self.now);
        let peer = PeerNo(u64::from(reader.byte() % PEERS));
        match kind % 14 {
            0 | 1 => {
                let (request, bytes) = (self.request(), reader.bytes());
                self.store.handle(
                    now,
                    store::server::Input::Request {
                        peer,
                        request,
                        bytes,
                    },
                );
            }
            2 => {
                if let Some(query) = self.queries.pop_front() {
                    let result = page(reader);
                    self.store
                        .handle(now, store::server::Input::Page { query, result });
                }
            }
            3 | 4 => {
                let (request, bytes) = (self.request(), reader.bytes());
                self.filter.handle(
                    now,
                    filter::Input::Request {
                        peer,
                        request,
                        bytes,
                    },
                );
            }
            5 => {
                let message = StoredMessage::new("/waku/2/rs/1/0", message(reader));
                self.filter.handle(now, filter::Input::Message { message });
            }
            6 => {
                if let Some(peer) = self.pushing.pop_front() {
                    let delivered = reader.byte() % 2 == 0;
                    self.filter
                        .handle(now, filter::Input::Pushed { peer, delivered });
                }
            }
            7 => {
                let version =
                    reader.one_of(&[lightpush::PushVersion::V3, lightpush::PushVersion::V2]);
                let (request, bytes) = (self.request(), reader.bytes());
                let input = lightpush::Input::Request {
                    peer,
                    request,
                    version,
                    bytes,
                };
                self.lightpush.handle(now, input);
            }
            8 => {
                if let Some(publish) = self.publishing.pop_front() {
                    let outcome = match reader.byte() % 2 {
                        0 => Ok(1),
                        _ => Err(lightpush::PublishRefusal::InvalidProof),
                    };
                    self.lightpush
                        .handle(now, lightpush::Input::Published { publish, outcome });
                }
            }
            9 => {
                let (request, bytes) = (self.request(), reader.bytes());
                self.exchange
                    .handle(now, peer_exchange::Input::Request { request, bytes });
            }
            10 => {
                let (request, bytes) = (self.request(), reader.bytes());
                self.rendezvous.handle(
                    now,
                    rendezvous::Input::Request {
                        peer,
                        request,
                        bytes,
                    },
                );
            }
            11 => {
                if let Some(request) = self.records.pop_front() {
                    let is_valid = reader.byte() % 4 != 0;
                    self.rendezvous
                        .handle(now, rendezvous::Input::RecordChecked { request, is_valid });
                }
            }
            12 => {
                self.store.handle(now, store::server::Input::PeerGone(peer));
                self.filter.handle(now, filter::Input::PeerGone(peer));
                self.lightpush.handle(now, lightpush::Input::PeerGone(peer));
                self.rendezvous
                    .handle(now, rendezvous::Input::PeerGone(peer));
            }
            _ => {
                self.now = now.after(reader.time());
                self.store.handle(self.now, store::server::Input::Tick);
                self.filter.handle(self.now, filter::Input::Tick);
                self.lightpush.handle(self.now, lightpush::Input::Tick);
                self.rendezvous.handle(self.now, rendezvous::Input::Tick);
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.store.poll() {
            match output {
                store::server::Output::Respond { request, .. } => self.answered(request),
                store::server::Output::Query { query, .. } => self.queries.push_back(query),
            }
        }
        while let Some(output) = self.filter.poll() {
            match output {
                filter::Output::Respond { request, .. } => self.answered(request),
                filter::Output::Push { peer, .. } => self.pushing.push_back(peer),
                filter::Output::Drop { .. } => {}
            }
        }
        while let Some(output) = self.lightpush.poll() {
            match output {
                lightpush::Output::Respond { request, .. } => self.answered(request),
                lightpush::Output::Publish { publish, .. } => self.publishing.push_back(publish),
            }
        }
        while let Some(output) = self.exchange.poll() {
            let peer_exchange::Output::Respond { request, .. } = output;
            self.answered(request);
        }
        while let Some(output) = self.rendezvous.poll() {
            match output {
                rendezvous::Output::Respond { request, .. }
                | rendezvous::Output::Close { request } => {
                    self.answered(request);
                }
                rendezvous::Output::CheckRecord { request, .. } => self.records.push_back(request),
            }
        }
        let (usage, limits) = (self.filter.usage(), &self.filter_limits);
        assert!(usage.peers <= limits.max_peers);
        assert!(usage.criteria <= limits.max_peers * limits.max_criteria_per_peer);
        assert!(usage.criteria_bytes <= limits.max_criteria_bytes);
        assert!(usage.seen <= limits.max_seen);
        assert!(usage.push_bytes <= limits.max_push_bytes);
        for due in [
            self.store.next_timeout(),
            self.filter.next_timeout(),
            self.lightpush.next_timeout(),
        ] {
            assert!(due.is_none_or(|at| at.after(Duration::from_hours(24)) > self.now));
        }
    }
}

fn message(reader: &mut Reader<'_>) -> WakuMessage {
    WakuMessage::new(
        reader.bytes(),
        reader.one_of(&["/a/1/b/proto", "/c/1/d/proto"]),
    )
}

fn page(reader: &mut Reader<'_>) -> Result<HistoryPage, HistoryError> {
    if reader.byte() % 4 == 0 {
        return Err(reader.one_of(&[HistoryError::UnknownCursor, HistoryError::Unavailable]));
    }
    let entry = StoredMessage::new("/waku/2/rs/1/0", message(reader));
    let entry = HistoryEntry {
        hash: entry.hash,
        data: Some(HistoryData {
            pubsub_topic: entry.pubsub_topic,
            message: entry.message,
        }),
    };
    Ok(HistoryPage {
        next: Some(entry.hash),
        entries: vec![entry],
    })
}
