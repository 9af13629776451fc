//! Services of one node: the host of their state machines, its archive, and the connections of its clients.
//!
//! Sans-IO like the host: [`SimService::handle`] takes an input, [`SimService::poll`] returns the node's next
//! action.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_message::WakuMessage;
use undertone_services::filter::{FilterLimits, FilterServer};
use undertone_services::history::{HistoryQuery, StoredMessage};
use undertone_services::host::{Input, Machines, ServiceHost};
use undertone_services::lightpush::{LightpushLimits, LightpushServer};
use undertone_services::metadata::{MetadataExchange, MetadataLimits};
use undertone_services::peer_exchange::{self, PeerExchangeLimits, PeerExchangeServer};
use undertone_services::sharding::Sharding;
use undertone_services::store::{ServerLimits, StoreServer};
use undertone_services::{PeerNo, RequestNo};

use crate::outcome::ServiceCounters;
use crate::scenario::TroubleKind;
use crate::seeds::{SeededRng, derive};
use crate::services::archive::MemoryArchive;
use crate::services::frames::StreamService;
use crate::services::io::{ServiceAction, ServiceInput};
use crate::services::records;
use crate::services::sync::StoreSync;
use crate::world::{UNIX_NS_AT_ZERO, World};

/// Connection of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientLink {
    pub(super) client: u32,
    pub(super) remote_conn: ConnIx,
    /// Whether the stream for pushed messages is open.
    pub(super) pushes: bool,
}

/// Stream of a request: connection, number, service.
pub(crate) type Asker = (ConnIx, u32, StreamService);

/// Services of one node.
#[derive(Debug)]
pub(crate) struct SimService {
    pub(crate) host: ServiceHost<Asker>,
    /// Synchronisation with other stores, if the scenario has it.
    pub(super) sync: Option<StoreSync>,
    pub(super) metadata: MetadataExchange<u32>,
    cluster: u16,
    pub(crate) archive: MemoryArchive,
    pub(crate) counters: ServiceCounters,
    /// Index of the first connection of a client; those below belong to the relay.
    pub(crate) first_conn: u32,
    pub(super) next_conn: u32,
    pub(super) links: BTreeMap<ConnIx, ClientLink>,
    /// The newest connection of each client.
    pub(super) newest: BTreeMap<u32, ConnIx>,
    pub(super) queries: BTreeMap<RequestNo, HistoryQuery>,
    pub(super) archive_free_ns: u64,
    /// Frame of the message being pushed, kept so that clients share its memory.
    pub(super) pushed: Option<(Bytes, Bytes)>,
    pub(super) troubles: Vec<TroubleKind>,
    is_stopped: bool,
    pub(super) rng: SeededRng,
    pub(super) actions: VecDeque<ServiceAction>,
}

impl SimService {
    /// Services of a relay that has `relay_conns` connections.
    pub(crate) fn new(world: &World, node: u32, relay_conns: u32) -> Self {
        let rates = world
            .scenario
            .services
            .as_ref()
            .map(|setup| setup.rates)
            .unwrap_or_default();
        let cluster = world.relay.cluster_id;
        let exchange = exchange(world, node);
        Self {
            host: ServiceHost::new(machines(world, cluster, Some(exchange)), rates),
            sync: StoreSync::new(world, node),
            metadata: MetadataExchange::new(MetadataLimits::default()),
            cluster,
            archive: MemoryArchive::default(),
            counters: ServiceCounters::default(),
            first_conn: relay_conns,
            next_conn: relay_conns,
            links: BTreeMap::new(),
            newest: BTreeMap::new(),
            queries: BTreeMap::new(),
            archive_free_ns: 0,
            pushed: None,
            troubles: Vec::new(),
            is_stopped: false,
            rng: SeededRng::new(world.seed, "service", u64::from(node)),
            actions: VecDeque::new(),
        }
    }

    /// Handles an input.
    pub(crate) fn handle(&mut self, world: &World, now_ns: u64, input: ServiceInput) {
        if self.is_stopped {
            return;
        }
        let now = Time::from_nanos(now_ns);
        match input {
            ServiceInput::Dial { client, conn } => self.dialled(client, conn),
            ServiceInput::Closed(conn) => self.closed(now, conn),
            ServiceInput::Frame { conn, frame } => self.frame(world, now, conn, &frame),
            ServiceInput::Message { topic, message } => self.message(world, now, topic, message),
            ServiceInput::Published { publish, outcome } => {
                self.host.handle(now, Input::Published { publish, outcome });
            }
            ServiceInput::Queried(query) => self.queried(now, query),
            ServiceInput::Pushed { client, delivered } => {
                let peer = peer_no(client);
                self.host.handle(now, Input::Pushed { peer, delivered });
            }
            ServiceInput::TroubleBegins(number) => self.trouble_begins(world, number),
            ServiceInput::TroubleEnds(number) => {
                let kind = trouble(world, number);
                if let Some(at) = self.troubles.iter().position(|kept| *kept == kind) {
                    self.troubles.swap_remove(at);
                }
                if kind == TroubleKind::OtherCluster {
                    self.restart(world);
                }
                if self.may_sync() {
                    self.sync_tick(world, now_ns);
                }
            }
            ServiceInput::Tick => {
                self.host.handle(now, Input::Tick);
                if self.may_sync() {
                    self.sync_tick(world, now_ns);
                }
            }
            ServiceInput::Accepted {
                node,
                conn,
                remote_conn,
            } => self.accepted(world, now_ns, node, (conn, remote_conn)),
            ServiceInput::Refused(conn) => self.refused(conn),
        }
        self.carry_out(world, now_ns);
    }

    /// Returns the next action for the node.
    pub(crate) fn poll(&mut self) -> Option<ServiceAction> {
        self.actions.pop_front()
    }

    /// Time of the first timer, nanoseconds.
    pub(crate) fn next_timeout(&self) -> Option<u64> {
        if self.is_stopped {
            return None;
        }
        let timers = [
            self.host.next_timeout(),
            // A store that is away returns through an event of its own.
            self.sync
                .as_ref()
                .filter(|_| self.may_sync())
                .map(StoreSync::next_timeout),
        ];
        timers.into_iter().flatten().min().map(Time::as_nanos)
    }

    /// Client at the other end of a connection.
    pub(crate) fn client_of(&self, conn: ConnIx) -> Option<u32> {
        self.links.get(&conn).map(|link| link.client)
    }

    /// Whether every collection that clients can fill is within its bound.
    pub(crate) fn is_within_bounds(&self) -> bool {
        let machines = self.host.machines();
        let (Some(filter), Some(push)) = (&machines.filter, &machines.lightpush) else {
            return true;
        };
        let (filter, push) = (filter.usage(), push.usage());
        let (filters, pushes) = (FilterLimits::default(), LightpushLimits::default());
        filter.peers <= filters.max_peers
            && filter.criteria_bytes <= filters.max_criteria_bytes
            && filter.seen <= filters.max_seen
            && filter.push_bytes <= filters.max_push_bytes
            && push.publishing <= pushes.max_publishing
            && push.publishing_bytes <= pushes.max_publishing_bytes
    }

    /// Stops the process. Returns the open client connections, as (index here, client, index there).
    pub(crate) fn stop(&mut self) -> Vec<(ConnIx, u32, ConnIx)> {
        self.is_stopped = true;
        self.actions.clear();
        let links = std::mem::take(&mut self.links).into_iter();
        links
            .map(|(conn, link)| (conn, link.client, link.remote_conn))
            .collect()
    }

    pub(super) fn has(&self, kind: TroubleKind) -> bool {
        self.troubles.contains(&kind)
    }

    pub(super) fn is_away(&self) -> bool {
        self.has(TroubleKind::Gone) || self.has(TroubleKind::Hangs)
    }

    fn may_sync(&self) -> bool {
        !self.is_away() && !self.has(TroubleKind::OtherCluster)
    }

    /// Cluster to which the node currently belongs.
    pub(super) fn present_cluster(&self) -> u16 {
        match self.has(TroubleKind::OtherCluster) {
            true => self.cluster.wrapping_add(1),
            false => self.cluster,
        }
    }

    fn dialled(&mut self, client: u32, remote_conn: ConnIx) {
        if self.has(TroubleKind::Hangs) {
            return;
        }
        if self.has(TroubleKind::Gone) {
            self.actions.push_back(ServiceAction::Refuse {
                client,
                remote_conn,
            });
            return;
        }
        let conn = ConnIx(self.next_conn);
        self.next_conn += 1;
        let link = ClientLink {
            client,
            remote_conn,
            pushes: false,
        };
        self.links.insert(conn, link);
        self.newest.insert(client, conn);
        self.actions.push_back(ServiceAction::Open {
            client,
            conn,
            remote_conn,
        });
    }

    fn closed(&mut self, now: Time, conn: ConnIx) {
        let Some(link) = self.links.remove(&conn) else {
            return;
        };
        self.actions.push_back(ServiceAction::Forget(conn));
        if let Some(sync) = &mut self.sync {
            sync.closed(conn);
        }
        if self.newest.get(&link.client) != Some(&conn) {
            return; // The client has another connection.
        }
        self.newest.remove(&link.client);
        let peer = peer_no(link.client);
        self.host.handle(now, Input::PeerGone(peer));
    }

    fn message(&mut self, world: &World, now: Time, topic: Arc<str>, message: WakuMessage) {
        if self.is_away() || self.has(TroubleKind::OtherCluster) {
            return;
        }
        let has_store = world.scenario.services.as_ref().is_some_and(|s| s.store);
        let message = StoredMessage::new(topic, message);
        if has_store {
            self.keep(now, &message);
        }
        if self.has(TroubleKind::Lies) {
            return self.push_lies(world);
        }
        if !self.has(TroubleKind::Mute) {
            self.host.handle(now, Input::Message(message));
        }
    }

    /// Stores a message of the relay if real stores would.
    fn keep(&mut self, now: Time, message: &StoredMessage) {
        let unix_ns = UNIX_NS_AT_ZERO.saturating_add(now.as_nanos());
        if !message.is_to_be_kept(i64::try_from(unix_ns).unwrap_or(i64::MAX)) {
            return;
        }
        self.archive.keep(now.as_nanos(), message.clone());
        if let Some(sync) = &mut self.sync {
            sync.insert(message);
        }
    }

    fn trouble_begins(&mut self, world: &World, number: u32) {
        let kind = trouble(world, number);
        self.troubles.push(kind);
        if matches!(kind, TroubleKind::Gone | TroubleKind::OtherCluster) {
            self.restart(world);
        }
    }

    /// Restarts the node's process: connections are lost, and only the archive, on disk, survives.
    fn restart(&mut self, world: &World) {
        let exchange = self.host.replace(Machines::default()).peer_exchange;
        let machines = machines(world, self.present_cluster(), exchange);
        self.host.replace(machines);
        self.queries.clear();
        self.newest.clear();
        if let Some(sync) = &mut self.sync {
            sync.restart();
        }
        for (conn, link) in std::mem::take(&mut self.links) {
            self.actions.push_back(ServiceAction::Close {
                client: link.client,
                conn,
                remote_conn: link.remote_conn,
            });
        }
    }

    fn queried(&mut self, now: Time, query: RequestNo) {
        if let Some(content) = self.queries.remove(&query) {
            let result = match self.has(TroubleKind::OtherCluster) {
                // The other network has another archive.
                true => MemoryArchive::default().page(&content),
                false => self.archive.page(&content),
            };
            self.host.handle(now, Input::Page { query, result });
        }
    }
}

fn machines(world: &World, cluster: u16, peer_exchange: Option<PeerExchangeServer>) -> Machines {
    let sharding = Sharding {
        cluster,
        num_shards: None,
    };
    let mut filter = FilterLimits::default();
    let mut lightpush = LightpushLimits::default();
    // Some scenarios have larger messages than the default limits allow.
    let max_bytes = world.scenario.relay.max_message_bytes;
    lightpush.codec.message.max_message_bytes = max_bytes;
    lightpush.codec.max_request_bytes = lightpush.codec.max_request_bytes.max(2 * max_bytes);
    filter.codec.message.max_message_bytes = max_bytes;
    Machines {
        store: Some(StoreServer::new(ServerLimits::default())),
        filter: Some(FilterServer::new(sharding, filter)),
        lightpush: Some(LightpushServer::new(sharding, lightpush)),
        peer_exchange,
        rendezvous: None,
    }
}

/// Peer exchange server of a node that knows all other service nodes.
fn exchange(world: &World, node: u32) -> PeerExchangeServer {
    let seed = derive(world.seed, "peer exchange", u64::from(node));
    let limits = PeerExchangeLimits::default();
    let mut server = PeerExchangeServer::new(ChaCha8Rng::from_seed(seed), limits);
    let others = world.service_nodes().filter(|other| *other != node);
    let enrs = others.map(records::encode).collect();
    server.handle(Time::ZERO, peer_exchange::Input::Known { enrs });
    server
}

fn trouble(world: &World, number: u32) -> TroubleKind {
    let setup = world.scenario.services.as_ref();
    let setup = setup.expect("a node that serves is of a scenario with services");
    setup.troubles[number as usize].kind
}

pub(super) fn peer_no(client: u32) -> PeerNo {
    PeerNo(u64::from(client))
}
