//! Random scenarios. A scenario follows from its seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_gossip::{Config, FloodPublish, PROFILES, StrategyKind};
use undertone_sim::Scenario;
use undertone_sim::scenario::{
    Cpu, Delay, Dialling, Discovery, Group, GroupRelay, ListedMessage, Members, Publishers, Qdisc,
    Rln, Spacing, TcpProfile, Topology, Verification,
};

use super::{draw_faults, healed, judge, times};
use crate::support::{MS, S};

/// Random choices of one scenario.
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number between two bounds, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.next_u64() % (most - least + 1)
    }

    pub(crate) fn count(&mut self, least: u32, most: u32) -> u32 {
        self.between(u64::from(least), u64::from(most)) as u32
    }

    pub(crate) fn size(&mut self, least: usize, most: usize) -> usize {
        self.between(least as u64, most as u64) as usize
    }

    /// A number of [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True in this many percent of all cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    pub(crate) fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = self.size(0, choices.len() - 1);
        choices[at].clone()
    }
}

/// The scenario of a seed.
pub(crate) fn scenario(seed: u64) -> Scenario {
    let draw = &mut Draw::new(seed);
    let mut scenario = Scenario::plain(draw.count(20, 120).min(draw.count(20, 120)));
    scenario.name = format!("swarm {seed}");
    topology(draw, &mut scenario);
    network(draw, &mut scenario);
    relay(draw, &mut scenario);
    if draw.percent(25) {
        scenario.cpu = Cpu {
            per_frame_ns: draw.between(10_000, MS),
            per_kb_ns: draw.between(0, 20_000),
        };
    }
    groups(draw, &mut scenario);
    let is_found = scenario.topology.discovery().is_some();
    let is_whole = scenario.relay.topics_per_node.is_none() && scenario.relay.fragments == 1;
    let has_topics = scenario.groups.iter().any(|group| group.topics.is_some());
    if !is_found && is_whole && !has_topics && draw.percent(25) {
        draw_faults::services(draw, &mut scenario);
    }
    if draw.percent(50) {
        scenario.rln = Some(rate_limit(draw));
    }
    let until_ns = draw_faults::faults(draw, &mut scenario);
    if !is_found && draw.percent(30) {
        draw_faults::adversaries(draw, &mut scenario, until_ns);
    }
    traffic(draw, &mut scenario, until_ns);
    // The last message or fault may come before the time from which messages are expected.
    let settles_ns = times::from_ns(&scenario) - until_ns.min(times::from_ns(&scenario));
    scenario.drain_ns = healed::latest_ns(&scenario, seed).max(settles_ns);
    if judge::is_light_served(&scenario) {
        // Longer than the longest backoff of a light client.
        scenario.drain_ns = scenario.drain_ns.max(1_200 * S);
    }
    scenario
}

fn topology(draw: &mut Draw, scenario: &mut Scenario) {
    let nodes = scenario.nodes;
    scenario.topology = match draw.between(0, 99) {
        0..45 => Topology::Dials(draw.count(2, 8)),
        45..60 => Topology::Regular(2 * draw.count(2, 6)),
        60..70 => Topology::FullMesh,
        70..75 => Topology::Line,
        75..80 => Topology::Ring,
        80..85 => Topology::Star,
        85..90 => lattice(nodes, draw.count(2, 5)),
        _ => Topology::Discovery(Discovery::default()),
    };
    // A message crosses these node by node.
    if matches!(scenario.topology, Topology::Line | Topology::Ring) {
        scenario.nodes = nodes.min(40);
    }
    if draw.percent(30) {
        scenario.dialling = Dialling::OneByOne;
    }
}

/// A ring in which each node is connected with some of the nearest.
fn lattice(nodes: u32, reach: u32) -> Topology {
    let from = |node: u32| (1..=reach).map(move |step| (node, (node + step) % nodes));
    Topology::Edges((0..nodes).flat_map(from).collect())
}

fn network(draw: &mut Draw, scenario: &mut Scenario) {
    let network = &mut scenario.network;
    network.uplink_bytes_per_s = draw.between(250_000, 12_500_000);
    network.downlink_bytes_per_s = draw.between(250_000, 12_500_000);
    network.delay = match draw.between(0, 2) {
        0 => Delay::Constant {
            one_way_ns: draw.between(1, 150) * MS,
        },
        1 => {
            let places = draw.size(1, 4);
            let mut row = || (0..places).map(|_| draw.between(1, 150) * MS).collect();
            Delay::Places {
                one_way_ns: (0..places).map(|_| row()).collect(),
            }
        }
        _ => Delay::Uniform {
            min_ns: draw.between(1, 20) * MS,
            max_ns: draw.between(20, 150) * MS,
        },
    };
    if draw.percent(50) {
        network.jitter_ns = draw.between(0, 30) * MS;
    }
    if draw.percent(40) {
        network.loss = draw.unit() * 0.03;
    }
    if draw.percent(30) {
        network.queue = Qdisc::Fifo {
            max_bytes: draw.between(50_000, 1_000_000),
        };
    }
    network.tcp = draw.one_of(&[
        TcpProfile::Linux,
        TcpProfile::Linux,
        TcpProfile::LinuxDevice,
        TcpProfile::Shadow,
    ]);
    network.tuned_send_buffers = draw.percent(30);
    network.slow_start_after_idle = draw.percent(70);
}

/// A router of any implementation.
fn gossip(draw: &mut Draw, scenario: &Scenario) -> Config {
    let mut gossip = match draw.percent(70) {
        true => Config::waku(),
        false => Config::libp2p(),
    };
    let profile = draw.size(0, PROFILES.len() - 1);
    if draw.percent(60) {
        PROFILES[profile].apply(&mut gossip, draw.percent(50));
    }
    if draw.percent(60) {
        let degrees = &mut gossip.degrees;
        degrees.d = draw.size(3, 8);
        degrees.d_low = draw.size(2, degrees.d);
        degrees.d_high = degrees.d + draw.size(1, 6);
        degrees.d_score = draw.size(1, degrees.d);
        degrees.d_out = draw.size(0, (degrees.d / 2).min(degrees.d_low - 1));
        degrees.d_lazy = draw.size(6, 16);
    }
    if draw.percent(30) {
        gossip.gossip_factor = 0.25 + 0.75 * draw.unit();
    }
    // Else the leaves that the hub has pruned learn of a message by luck alone.
    if scenario.topology == Topology::Star {
        gossip.gossip_factor = 1.0;
    }
    if draw.percent(40) {
        gossip.flood_publish = draw.one_of(&[FloodPublish::Off, FloodPublish::On]);
    }
    if draw.percent(30) {
        gossip.idontwant_threshold_bytes = draw.one_of(&[0, 200, usize::MAX]);
    }
    if draw.percent(20) {
        gossip.strategy = draw
            .one_of(&[
                StrategyKind::Staggered,
                StrategyKind::Reduced,
                StrategyKind::Flood,
            ])
            .into();
    }
    gossip
}

const PROTOCOLS: [&str; 4] = [
    "/vac/waku/relay/2.0.0",
    "/meshsub/1.2.0",
    "/meshsub/1.1.0",
    "/undertone/relay-large/1.0.0",
];

fn relay(draw: &mut Draw, scenario: &mut Scenario) {
    scenario.relay.gossip = gossip(draw, scenario);
    scenario.relay.protocol = draw.one_of(&PROTOCOLS).to_owned();
    let is_random = matches!(
        scenario.topology,
        Topology::Dials(_) | Topology::Discovery(_)
    );
    if draw.percent(30) {
        scenario.relay.topics = draw.count(2, 4);
        if is_random && draw.percent(40) {
            let topics = scenario.relay.topics;
            scenario.relay.topics_per_node = Some(draw.count(1, topics));
            // Enough nodes of each topic accept connections.
            scenario.nodes = scenario.nodes.max(80);
        }
    }
    if draw.percent(15) {
        scenario.relay.fragments = draw.count(2, 6);
    }
}

fn groups(draw: &mut Draw, scenario: &mut Scenario) {
    let mut free = scenario.nodes / 2;
    for name in ["first", "second"] {
        if !draw.percent(35) {
            continue;
        }
        let mut group = Group::new(name, Members::Count(draw.count(1, free / 2)));
        free /= 2;
        match draw.between(0, 5) {
            0 => {
                group.uplink_bytes_per_s = Some(draw.between(125_000, 500_000));
                group.downlink_bytes_per_s = Some(draw.between(125_000, 500_000));
            }
            1 => group.added_delay_ns = draw.between(1, 150) * MS,
            2 => group.added_loss = draw.unit() * 0.02,
            3 => {
                group.cpu = Some(Cpu {
                    per_frame_ns: draw.between(1, 5) * MS,
                    per_kb_ns: draw.between(0, 100_000),
                });
            }
            4 if matches!(
                scenario.topology,
                Topology::Dials(_) | Topology::Discovery(_)
            ) =>
            {
                group.accepts_connections = false;
            }
            _ => {
                group.relay = Some(GroupRelay {
                    protocol: draw.one_of(&PROTOCOLS).to_owned(),
                    gossip: gossip(draw, scenario),
                });
            }
        }
        if scenario.relay.topics > 1 && scenario.relay.topics_per_node.is_none() && draw.percent(30)
        {
            let topics = scenario.relay.topics;
            group.topics = Some((0..draw.count(0, topics)).collect());
        }
        scenario.groups.push(group);
    }
}

fn rate_limit(draw: &mut Draw) -> Rln {
    let verification = match draw.percent(50) {
        true => Verification::Wait {
            ns: draw.between(1, 20) * MS,
        },
        false => Verification::Batches {
            single_ns: draw.between(1, 5) * MS,
            batch_base_ns: draw.between(1, 5) * MS,
            batch_per_proof_ns: draw.between(100_000, 500_000),
        },
    };
    Rln {
        // Above what an honest node publishes.
        message_limit: draw.count(200, 400),
        epoch_s: draw.one_of(&[10, 60, 600]),
        generation_ns: draw.between(10, 400) * MS,
        verification,
    }
}

/// Messages from before the first fault until long after the last one.
fn traffic(draw: &mut Draw, scenario: &mut Scenario, until_ns: u64) {
    let fragments = u64::from(scenario.relay.fragments);
    let spacing_ns = draw.between(1_000, 5_000) * MS * fragments;
    let healed_ns = times::from_ns(scenario).max(until_ns);
    // At most a quarter of any link is used while all is well.
    let copies = match scenario.topology {
        Topology::FullMesh | Topology::Star => u64::from(scenario.nodes),
        _ => 24,
    };
    let rate = times::slowest_bytes_per_s(scenario);
    let most = (rate * spacing_ns / S / copies / 4).clamp(200, 60_000);
    let sizes = draw.size(1, 3);
    let traffic = &mut scenario.traffic;
    traffic.payload_bytes = (0..sizes).map(|_| draw.between(8, most) as u32).collect();
    traffic.first_ns = 5 * S + draw.between(0, S);
    if scenario.services.is_some() {
        // Light clients publish at one pace from the beginning to the end.
        let lasts_ns = healed_ns + 10 * spacing_ns - traffic.first_ns;
        let spacing_ns = spacing_ns.max(lasts_ns / 100);
        traffic.messages = (lasts_ns / spacing_ns) as u32;
        traffic.spacing = match draw.percent(60) {
            true => Spacing::Constant(spacing_ns),
            false => Spacing::Poisson(spacing_ns),
        };
        traffic.publishers = match draw.between(0, 2) {
            0 => Publishers::One(0),
            1 => Publishers::RoundRobin(draw.count(1, scenario.nodes)),
            _ => Publishers::Random,
        };
        return;
    }
    // A message a second or so while there are faults, few until they are overcome, and some afterwards.
    let (mut at_ns, mut after) = (traffic.first_ns, 0);
    while after < 15 {
        let pause_ns = match at_ns < until_ns {
            true => spacing_ns,
            false if at_ns < healed_ns => 10 * S.max(spacing_ns),
            false => spacing_ns,
        };
        let message = listed(draw, scenario, at_ns);
        scenario.listed.push(message);
        after += u32::from(at_ns >= healed_ns);
        at_ns += draw.between(pause_ns / 2, pause_ns * 3 / 2);
        // The first one afterwards comes at once.
        if scenario
            .listed
            .last()
            .is_some_and(|last| last.at_ns < healed_ns)
        {
            at_ns = at_ns.min(healed_ns);
        }
    }
    scenario.traffic.messages = scenario.listed.len() as u32;
}

/// A message of any node on a topic of its own.
fn listed(draw: &mut Draw, scenario: &Scenario, at_ns: u64) -> ListedMessage {
    let publisher = draw.count(0, scenario.nodes - 1);
    let topics = (0..scenario.relay.topics).filter(|topic| scenario.joins(publisher, *topic));
    let topics: Vec<_> = topics.collect();
    ListedMessage {
        at_ns,
        publisher,
        payload_bytes: draw.one_of(&scenario.traffic.payload_bytes),
        // A node without topics publishes to strangers.
        topic: match topics.is_empty() {
            true => draw.count(0, scenario.relay.topics - 1),
            false => draw.one_of(&topics),
        },
    }
}
