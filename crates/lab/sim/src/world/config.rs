//! Configuration of machines and relays, from a scenario.

use undertone_gossip::{Config, Features};
use undertone_link as link;
use undertone_message::{PubsubTopic, Shard};
use undertone_relay::{PeerChecks, RelayConfig, RlnConfig};
use undertone_rln::{NullifierLimits, Policy, RlnIdentifier};

use super::{GENERATION, MAX_CLOCK_GAP_NS, World};
use crate::error::SimError;
use crate::scenario::{Fault, FaultKind, Qdisc, Scenario, TcpProfile};
use crate::seeds::SeededRng;

/// Time for which a message with an unknown root waits, nanoseconds; that of nodes (`undertone_node`).
const UNKNOWN_ROOT_TIMEOUT_NS: u64 = 12_000_000_000;

/// Start times of light clients: after the relays, spread over an interval of the same length.
pub(super) fn client_starts_ns(scenario: &Scenario, seed: u64) -> Vec<u64> {
    let mut rng = SeededRng::new(seed, "client starts", 0);
    let (start_ns, spread_ns) = (scenario.start_ns, scenario.start_spread_ns);
    let clients = scenario.services.as_ref().map_or(0, |s| s.light_clients);
    (0..clients)
        .map(|_| start_ns + spread_ns + rng.below(spread_ns))
        .collect()
}

pub(super) fn shard(cluster: u16, index: u16) -> Option<PubsubTopic> {
    Shard::new(cluster, index).map(PubsubTopic::from)
}

pub(super) fn tcp_profile(scenario: &Scenario) -> link::Profile {
    let network = &scenario.network;
    let (mut profile, tuning) = match network.tcp {
        TcpProfile::Linux => (link::Profile::LINUX, link::BufferTuning::LINUX),
        TcpProfile::LinuxDevice => (link::Profile::LINUX_DEVICE, link::BufferTuning::LINUX),
        TcpProfile::Shadow => (link::Profile::SHADOW, link::BufferTuning::SHADOW),
    };
    profile.send_buffer = match network.tuned_send_buffers {
        true => link::SendBuffer::Tuned(tuning),
        false => link::SendBuffer::Fixed { bytes: 4 << 20 },
    };
    profile.idle = match network.slow_start_after_idle {
        true => link::Idle::Decay,
        false => link::Idle::Keep,
    };
    profile
}

pub(super) fn host(scenario: &Scenario) -> link::StackConfig {
    let network = &scenario.network;
    let profile = tcp_profile(scenario);
    let (up, down) = (network.uplink_bytes_per_s, network.downlink_bytes_per_s);
    // Loss is a property of connections; a fault may add to it.
    let mut host = link::StackConfig::new(profile, up, down);
    host.unlimited_until_ns = network.unlimited_until_ns;
    host.queue = match network.queue {
        Qdisc::Fifo { max_bytes } => link::QueueDiscipline::Fifo { max_bytes },
        Qdisc::CoDel {
            target_ns,
            interval_ns,
        } => link::QueueDiscipline::CoDel {
            target_ns,
            interval_ns,
        },
    };
    host.jitter_ns = network.jitter_ns;
    host.setup_packets = network.setup_packets;
    host.begun_over_bytes = begun_over_bytes(scenario, &scenario.relay.gossip);
    host.piece_bytes = network.mux_piece_bytes;
    host.flow_control = network.mux.0.flow_control;
    host
}

/// Length from which the transfer of a frame is reported when it begins, bytes.
pub(super) fn begun_over_bytes(scenario: &Scenario, gossip: &Config) -> u64 {
    gossip.large.transfer_bytes as u64 + u64::from(scenario.network.mux_overhead_bytes)
}

pub(super) fn features(protocol: &str) -> Result<Features, SimError> {
    Features::of(protocol).ok_or_else(|| SimError::Invalid {
        what: "relay.protocol",
        value: protocol.to_owned(),
        rule: "it must be one that the router knows, like /vac/waku/relay/2.0.0",
    })
}

fn is_spam(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Spam { .. })
}

pub(super) fn relay(scenario: &Scenario, gossip: &Config, cluster_id: u16) -> RelayConfig {
    let setup = &scenario.relay;
    let mut gossip = gossip.clone();
    gossip.limits.frame_bytes_max = setup.max_message_bytes + (64 << 10);
    // One shard carries all messages, whatever their content topic.
    let mut relay = RelayConfig::new(gossip, cluster_id, setup.max_message_bytes);
    relay.publish_unjoined = scenario.groups.iter().any(|group| group.topics.is_some());
    relay.rln = scenario.rln.as_ref().map(|rln| {
        let policy = Policy {
            generation: GENERATION,
            identifier: RlnIdentifier::WAKU,
            epoch_size_s: rln.epoch_s,
            max_clock_gap_ns: MAX_CLOCK_GAP_NS,
        };
        let mut config = RlnConfig::new(policy, NullifierLimits::new(200_000));
        config.root_window = 1;
        if World::root_spread_ns(scenario) > 0 {
            config.unknown_root_timeout_ns = UNKNOWN_ROOT_TIMEOUT_NS;
        }
        config.sends_reused_ids = scenario.faults.iter().any(is_spam);
        config.checks_max = 4096;
        config.checks_of_peer = PeerChecks::unbounded();
        config
    });
    relay
}
