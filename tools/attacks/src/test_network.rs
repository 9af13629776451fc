//! Small honest network of real nodes, one of them the victim.
//!
//! ```text
//! honest[0] publishes ─── victim ─── reader
//! honest[1..] ───────────┘
//! ```
//!
//! Messages go from `honest[0]` to the victim and the reader. The victim is the reader's only neighbour,
//! so that messages that reach the reader have passed through the victim.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libp2p::PeerId;
use tempfile::TempDir;
use tokio::time::{MissedTickBehavior, interval};
use undertone_gossip::Topic;

use super::chain::Chain;
use super::members::Members;
use super::node::{Node, NodeSpec};
use super::peer::Peer;
use super::proxy::Proxy;
use super::traffic::{self, Arrived, Flow, Inbox, Load, PeerLog};
use super::usage::{Meter, SAMPLE_INTERVAL, peak_mib};
use super::users::{AskedService, ROUND, Users};
use super::{Counted, HostileError, Usage};

mod flags;

pub use super::topics::{prefix, pubsub_topic};
pub use flags::victims_registry;

pub(super) use flags::static_peers;
use flags::{common_flags, victim_flags};

/// Time limit for the nodes' meshes to form.
const READY: Duration = Duration::from_secs(30);
/// Time limit for a newcomer to receive the victim's subscriptions.
pub const NEWCOMER_PATIENCE: Duration = Duration::from_secs(10);
/// Interval between two newcomers.
const NEWCOMER_INTERVAL: Duration = Duration::from_secs(2);

/// Address at which the victim listens and from which it dials.
pub const VICTIM_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const READER_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Options of an honest network.
#[derive(Clone, Debug)]
pub struct StageOptions {
    /// Number of topics that all nodes join: the first shards of the cluster.
    pub shards: u16,
    /// Number of further topics that only the victim joins.
    pub victims_shards: u16,
    /// Whether a message's shard is derived from its content topic (autosharding).
    pub has_automatic_sharding: bool,
    /// Whether messages need rate-limit proofs.
    pub rln: bool,
    /// Whether the victim has its own registry file, and proofs are made for the newest root.
    pub own_registry: bool,
    /// Whether the victim reads the members from a contract on a chain instead, and proofs are made for the newest
    /// root.
    pub has_chain: bool,
    /// Number of honest nodes besides the victim and the reader.
    pub honest: usize,
    /// Whether all honest nodes share one address.
    pub has_one_address: bool,
    /// How the victim and its honest neighbours connect.
    pub meeting: Meeting,
    /// Whether the first honest node, which publishes, is not a neighbour of the victim, because a node
    /// sends its own messages to all its neighbours regardless of meshes.
    pub is_apart: bool,
    /// Whether the network has a reader, which dials the victim.
    pub has_reader: bool,
    /// Whether the victim also serves history, and honest users of all its services are measured.
    pub services: bool,
    /// Further flags of the victim.
    pub victims_flags: &'static [&'static str],
    /// Delay of every byte between the victim and its first honest neighbour, if the victim dials it.
    pub delay: Duration,
    /// Nodes that publish the messages of a load.
    pub ways: Ways,
}

/// How the victim and its honest neighbours connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The victim dials its neighbours from the start.
    VictimDials,
    /// The neighbours dial the victim from the start.
    HonestDial,
    /// The neighbours dial the victim in [`TestNetwork::meet`], called by the attack.
    Later,
}

/// Nodes that publish the messages of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// The first honest neighbour alone.
    One,
    /// The first honest neighbour and the reader, in turn.
    Both,
}

impl Default for StageOptions {
    fn default() -> Self {
        Self {
            shards: 1,
            victims_shards: 0,
            has_automatic_sharding: false,
            rln: false,
            own_registry: false,
            has_chain: false,
            honest: 1,
            has_one_address: false,
            meeting: Meeting::VictimDials,
            is_apart: false,
            has_reader: true,
            services: false,
            victims_flags: &[],
            delay: Duration::ZERO,
            ways: Ways::One,
        }
    }
}

/// Effects of an attack on the victim's users, and the victim's resource usage.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Arrivals of honest messages.
    pub arrived: Arrived,
    /// Number of newcomers that the victim accepted.
    pub newcomers_in: u32,
    /// Number of newcomers that tried to connect.
    pub newcomers_tried: u32,
    /// Requests of honest users to the victim's services, if they were measured.
    pub services: Vec<AskedService>,
    /// Things that the attack should leave unaffected, if it concerns any.
    pub counted: Vec<Counted>,
    /// Resource usage of the victim's process.
    pub usage: Usage,
    /// Lowest score that an honest node has of another at the end; `None` if no score is shown.
    pub lowest_score: Option<f64>,
}

/// Running honest network; a drop kills its processes and removes its files.
pub struct TestNetwork {
    /// Node that is attacked.
    pub victim: Node,
    /// Honest nodes besides the reader; the first one publishes.
    pub honest: Vec<Node>,
    /// Node that is connected to the victim only.
    pub reader: Option<Node>,
    /// Proxy between the reader and the victim.
    pub proxy: Option<Proxy>,
    /// Members of the registry, if there is a rate limit.
    pub members: Option<Members>,
    /// Chain that the victim follows, if it follows one.
    pub chain: Option<Chain>,
    /// Logs of peers that are not nodes and must get all messages too.
    pub others: Vec<PeerLog>,
    /// Things counted by steps of the attack.
    pub counted: Vec<Counted>,
    options: StageOptions,
    runs: u64,
    _delay: Option<Proxy>,
    entrances: Vec<Proxy>,
    folder: TempDir,
}

impl TestNetwork {
    /// Starts the nodes and waits until their meshes have formed.
    pub async fn start(program: &Path, options: StageOptions) -> Result<Self, HostileError> {
        let folder = tempfile::tempdir().map_err(HostileError::io("cannot make a folder"))?;
        let members = members(&options, folder.path())?;
        let make = |name: String, ip: Ipv4Addr, flags: Vec<String>| NodeSpec {
            program: PathBuf::from(program),
            name,
            folder: folder.path().to_owned(),
            ip,
            flags,
        };
        let common = common_flags(&options, members.as_ref());
        let mut honest: Vec<Node> = Vec::new();
        for index in 0..options.honest {
            let mut flags = common.clone();
            flags.extend(static_peers(honest.first().map(Node::addr)));
            let ip = honest_ip(if options.has_one_address { 0 } else { index });
            honest.push(Node::start(make(honest_name(index), ip, flags)).await?);
        }
        let chain = chain(&options, members.as_ref()).await?;
        let mut flags = victim_flags(&options, members.as_ref(), folder.path())?;
        flags.extend(chain.iter().flat_map(Chain::flags));
        let mut addresses: Vec<_> = honest.iter().map(Node::addr).collect();
        let mut delay = None;
        if let (Some(first), false) = (honest.first(), options.delay.is_zero()) {
            let ip = Ipv4Addr::LOCALHOST;
            let proxy = Proxy::slow(ip, first.socket(), VICTIM_IP, options.delay).await?;
            addresses[0] = first.target().addr_at(proxy.addr());
            delay = Some(proxy);
        }
        if options.meeting == Meeting::VictimDials {
            flags.extend(static_peers(addresses));
        }
        let mut entrances = Vec::new();
        let victim = Node::start(make("victim".to_owned(), VICTIM_IP, flags)).await?;
        if options.meeting == Meeting::HonestDial {
            for (index, node) in honest.iter().enumerate() {
                let ip = honest_ip(if options.has_one_address { 0 } else { index });
                entrances.push(arrive(node, ip, &victim).await?);
            }
        }
        let (mut reader, mut proxy) = (None, None);
        if options.has_reader {
            let between = Proxy::start(Ipv4Addr::LOCALHOST, victim.socket(), READER_IP).await?;
            let mut flags = common.clone();
            flags.extend(static_peers([victim.target().addr_at(between.addr())]));
            proxy = Some(between);
            reader = Some(Node::start(make("reader".to_owned(), READER_IP, flags)).await?);
        }
        let stage = Self {
            victim,
            honest,
            reader,
            proxy,
            members,
            chain,
            others: Vec::new(),
            counted: Vec::new(),
            options,
            runs: 0,
            _delay: delay,
            entrances,
            folder,
        };
        stage.wait_ready().await?;
        Ok(stage)
    }

    /// Makes the honest neighbours dial the victim, except a publisher that is apart.
    pub async fn meet(&mut self) -> Result<(), HostileError> {
        let apart = usize::from(self.options.is_apart);
        for (index, node) in self.honest.iter().enumerate().skip(apart) {
            let entrance = arrive(node, honest_ip(index), &self.victim).await?;
            self.entrances.push(entrance);
        }
        Ok(())
    }

    /// Waits until all neighbours are in each other's meshes, because a node sends nothing to a neighbour
    /// whose subscription it does not know.
    async fn wait_ready(&self) -> Result<(), HostileError> {
        let mut expected: Vec<&Node> = Vec::new();
        if self.options.meeting != Meeting::Later {
            expected.extend(&self.honest);
        }
        expected.extend(&self.reader);
        let ids: Vec<_> = expected.iter().map(|node| node.peer_id()).collect();
        let victim = [self.victim.peer_id()];
        let mut is_ready = self.are_in_meshes(&self.victim, &ids, READY).await;
        for node in expected {
            is_ready &= self.are_in_meshes(node, &victim, READY).await;
        }
        let others: Vec<_> = self.honest.iter().skip(1).map(Node::peer_id).collect();
        if let Some(first) = self.honest.first() {
            is_ready &= self.are_in_meshes(first, &others, READY).await;
        }
        if is_ready {
            return Ok(());
        }
        let mut states = Vec::new();
        for node in self.nodes() {
            states.push(node.state().await);
        }
        Err(HostileError::Late {
            waiting_for: format!("mesh of the honest nodes:\n{}", states.join("\n")),
            deadline_s: READY.as_secs(),
        })
    }

    /// Waits until these peers are in all of a node's meshes; returns `false` after a timeout.
    pub async fn are_in_meshes(&self, node: &Node, peers: &[PeerId], patience: Duration) -> bool {
        let topics = usize::from(self.options.shards);
        let are_in = |known: &BTreeMap<PeerId, super::node::PeerView>| {
            let is_in = |peer| known.get(peer).is_some_and(|view| view.meshes == topics);
            peers.iter().all(is_in)
        };
        node.wait_peers(patience, are_in).await
    }

    /// Returns the folder of all files of the network.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the topics that all nodes have joined.
    #[must_use]
    pub fn topics(&self) -> Vec<Topic> {
        let names = (0..self.options.shards).map(pubsub_topic);
        names.map(|name| Topic::new(&name)).collect()
    }

    /// Iterates over the victim, the honest neighbours and the reader.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let others = self.honest.iter().chain(&self.reader);
        std::iter::once(&self.victim).chain(others)
    }

    /// Publishes a load; measures arrivals, accepted newcomers and the victim's resource usage.
    pub async fn measure(&mut self, load: &Load, newcomers: u32) -> Measured {
        let first = self.honest.first().expect("somebody publishes");
        let mut publishers = vec![first];
        if self.options.ways == Ways::Both {
            publishers.extend(&self.reader);
        }
        let flows: Vec<_> = publishers
            .into_iter()
            .map(|from| Flow {
                from,
                to: self.inboxes(from.peer_id()),
            })
            .collect();
        let measured = self.measure_flows(load, &flows, newcomers, self.runs).await;
        self.runs += 1;
        measured
    }

    /// Returns the inboxes that must receive the messages of one node.
    fn inboxes(&self, publisher: PeerId) -> Vec<Inbox<'_>> {
        let nodes = self.nodes().filter(|node| {
            // A victim with additional topics also delivers messages of those, which must not count.
            node.peer_id() != publisher
                && (self.options.victims_shards == 0 || node.peer_id() != self.victim.peer_id())
        });
        let others = self.others.iter().cloned().map(Inbox::Peer);
        nodes.map(Inbox::Node).chain(others).collect()
    }

    async fn measure_flows(
        &self,
        load: &Load,
        flows: &[Flow<'_>],
        newcomers: u32,
        run: u64,
    ) -> Measured {
        let topic = (pubsub_topic(0), prefix(0));
        let traffic = traffic::run(load, flows, (&topic.0, &topic.1), run);
        let users = async {
            if !self.options.services {
                return Vec::new();
            }
            let rounds = (load.interval * load.messages).as_millis() / ROUND.as_millis();
            let rounds = u32::try_from(rounds).unwrap_or(u32::MAX).max(1);
            let publisher = self.honest.first().filter(|_| self.options.rln);
            let name = format!("users-{run}");
            Users::serve(&self.victim, publisher, &name, rounds).await
        };
        let newcomers_in = async {
            let arriving = (0..newcomers).map(|n| async move {
                tokio::time::sleep(NEWCOMER_INTERVAL * n).await;
                self.newcomer(n).await
            });
            let let_in = futures::future::join_all(arriving).await;
            let_in.into_iter().filter(|is_in| *is_in).count()
        };
        let mut meter = Meter::start(self.victim.pid().unwrap_or(0));
        let sampling = async {
            let mut ticks = interval(SAMPLE_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                ticks.tick().await;
                meter.sample();
            }
        };
        let (arrived, newcomers_in, services) = tokio::select! {
            all = async { tokio::join!(traffic, newcomers_in, users) } => all,
            () = sampling => unreachable!("sampling goes on until the rest is over"),
        };
        let lowest_score = self.lowest_score().await;
        let mut usage = meter.finish();
        // A lie of an endpoint may use memory for less than a sampling interval, and before the first sample.
        if let Some(peak_mib) = self
            .victim
            .pid()
            .filter(|_| self.chain.is_some())
            .and_then(peak_mib)
        {
            usage.memory_mib = peak_mib;
        }
        Measured {
            arrived,
            newcomers_in: u32::try_from(newcomers_in).unwrap_or(u32::MAX),
            newcomers_tried: newcomers,
            services,
            counted: self.counted.clone(),
            usage,
            lowest_score,
        }
    }

    /// Checks that the victim accepts a newcomer with its own address, by waiting for the victim's subscriptions.
    pub async fn newcomer(&self, number: u32) -> bool {
        let [.., high, low] = number.to_be_bytes();
        let from = Ipv4Addr::new(127, 9, high, low.max(1));
        let arriving = async {
            let Ok(mut peer) = Peer::connect(from, self.victim.target()).await else {
                return false;
            };
            let topics = self.topics();
            peer.subscribe(&topics).await
                && peer
                    .wait_rpc(NEWCOMER_PATIENCE, |rpc| !rpc.subscriptions.is_empty())
                    .await
        };
        tokio::time::timeout(NEWCOMER_PATIENCE, arriving)
            .await
            .unwrap_or(false)
    }

    /// Returns the lowest score that an honest node has of another one that it is connected to.
    pub async fn lowest_score(&self) -> Option<f64> {
        let honest: Vec<_> = self.nodes().map(Node::peer_id).collect();
        let mut lowest: Option<f64> = None;
        for node in self.nodes() {
            for (peer, view) in node.peers().await.unwrap_or_default() {
                if let Some(score) = view.score.filter(|_| honest.contains(&peer)) {
                    lowest = Some(lowest.map_or(score, |lowest| lowest.min(score)));
                }
            }
        }
        lowest
    }
}

/// Makes a node dial the victim from the address `from`. Needs a proxy, because libp2p cannot choose the address.
async fn arrive(node: &Node, from: Ipv4Addr, victim: &Node) -> Result<Proxy, HostileError> {
    let entrance = Proxy::start(Ipv4Addr::LOCALHOST, victim.socket(), from).await?;
    node.connect(&victim.target().addr_at(entrance.addr()))
        .await;
    Ok(entrance)
}

/// Returns the address of an honest neighbour.
#[must_use]
pub fn honest_ip(index: usize) -> Ipv4Addr {
    let last = u8::try_from(index + 11).expect("a stage has few honest nodes");
    Ipv4Addr::new(127, 0, 0, last)
}

fn honest_name(index: usize) -> String {
    format!("honest-{index}")
}

/// Creates the registry and the identities of the honest neighbours, if there is a rate limit.
fn members(options: &StageOptions, folder: &Path) -> Result<Option<Members>, HostileError> {
    if !options.rln {
        return Ok(None);
    }
    let mut members = Members::new(folder)?;
    for index in 0..options.honest {
        members.add(&folder.join(honest_name(index)))?;
    }
    Ok(Some(members))
}

/// Starts the chain that the victim follows, if it follows one.
async fn chain(
    options: &StageOptions,
    members: Option<&Members>,
) -> Result<Option<Chain>, HostileError> {
    match members.filter(|_| options.has_chain) {
        Some(members) => Ok(Some(Chain::start(members.reopen()?).await?)),
        None => Ok(None),
    }
}
