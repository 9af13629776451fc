//! Rules of validity, one for each mechanism that was not validated or is known to deviate.

use undertone_sim::scenario::{Dialling, FaultKind, TcpProfile, Topology};

use super::ValidityRule;
use super::facts::RunFacts;

/// Profiles of routers that were compared with nodes of their implementations, see `docs/design/network-model.md`.
const COMPARED_PROFILES: [&str; 3] = ["undertone", "rust", "js"];

/// Initial receive window of a stream in every yamux implementation, bytes.
const YAMUX_BYTES: u64 = 256 << 10;
const KB: u64 = 1_000;
/// Rate up to which a link counts as slow: 100 Mbit/s, in bytes per second.
const FAST_BYTES_PER_S: u64 = 12_500_000;
/// Number of connections from which the order in which they share an uplink decides the first message.
const MANY_CONNECTIONS: u64 = 50;
/// Share of an uplink above which messages of several senders meet in queues.
const BUSY: f64 = 0.5;
/// Range of message sizes, bytes, for which the packets that a handshake has sent decide how many rounds a first
/// message takes.
const FEW_PACKETS_BYTES: u64 = 10 * KB;
const MANY_PACKETS_BYTES: u64 = 150 * KB;
/// Mesh degree of the validated runs whose nodes dial one by one.
const COMPARED_DEGREE: usize = 6;
/// Send buffer of a new connection in Shadow, bytes.
const SHADOW_BUFFER_BYTES: u64 = 128 << 10;

/// The rules, in the order in which results list them.
pub const RULES: &[ValidityRule] = &[
    ValidityRule {
        name: "mux-not-measured",
        says: "messages exceed the multiplexer's window, whose rules were read in its source and not measured",
        applies: |run| {
            let mux = run.scenario.network.mux.0;
            let window = mux.flow_control.map(|flow| flow.initial_bytes);
            !mux.is_measured && window.is_some_and(|window| run.longest_bytes > window)
        },
    },
    ValidityRule {
        name: "mux-none",
        says: "messages exceed the 256 KiB with which streams of every yamux begin, and no multiplexer is modelled",
        applies: |run| run.scenario.network.mux.0.name == "none" && run.longest_bytes > YAMUX_BYTES,
    },
    ValidityRule {
        name: "discovery",
        says: "nodes find each other by an offer service, which stands for discv5 and was not compared with it",
        applies: |run| run.scenario.topology.discovery().is_some(),
    },
    ValidityRule {
        name: "quic-congestion",
        says: "streams are those of QUIC, but the congestion window is that of the TCP profile",
        applies: |run| run.scenario.network.mux.0.name == "quic",
    },
    ValidityRule {
        name: "cold-many",
        says: "cold connections: a message over 150 KB goes to 50 connections or more at up to 100 Mbit/s; Shadow was up to \
               41 % slower there (network.send_buffer = \"tuned\" agrees with it for sockets that a program fills)",
        applies: |run| {
            run.has_cold_messages
                && run.longest_bytes > 150 * KB
                && run.copies >= MANY_CONNECTIONS
                && run.uplink_bytes_per_s <= FAST_BYTES_PER_S
                && !run.scenario.network.tuned_send_buffers
        },
    },
    ValidityRule {
        name: "after-cold",
        says: "messages over 250 KB soon after a cold one, with IDONTWANT: more links stay cold than in the reference, and the \
               slowest deliveries are too late",
        applies: |run| {
            run.has_idontwant
                && run.longest_bytes > 250 * KB
                && run.spacing_ns.is_some()
                && run.scenario.warm_up_messages < 2
        },
    },
    ValidityRule {
        name: "setup-constant",
        says: "cold connections: what handshakes have opened of their windows is one number for all, and decides how many \
               rounds a first message of 10 to 150 KB takes",
        applies: |run| {
            run.has_cold_messages
                && run.scenario.network.handshake.is_none()
                && (FEW_PACKETS_BYTES..=MANY_PACKETS_BYTES).contains(&run.longest_bytes)
        },
    },
    ValidityRule {
        name: "send-buffer",
        says: "sockets take messages whole: the tuning of send buffers, which can cost a message over 100 KB a round trip and \
               decides the order in which large ones leave, is modelled with network.send_buffer = \"tuned\"",
        applies: |run| {
            let network = &run.scenario.network;
            let matters = match network.tcp {
                TcpProfile::Linux | TcpProfile::LinuxDevice => run.longest_bytes > 100 * KB,
                TcpProfile::Shadow => {
                    run.has_cold_messages && run.longest_bytes > SHADOW_BUFFER_BYTES
                }
            };
            matters && !network.tuned_send_buffers
        },
    },
    ValidityRule {
        name: "fragments",
        says: "messages are fragmented: warm ones were 3 % faster than in Shadow, with another distribution",
        applies: |run| run.scenario.relay.fragments > 1,
    },
    ValidityRule {
        name: "shared-uplinks",
        says: "messages follow so fast that copies of several share an uplink; no run with many senders was compared",
        applies: |run| run.load() > BUSY,
    },
    ValidityRule {
        name: "star",
        says: "the network is a star, whose middle has every connection and forwards every message; no star was compared with \
               another network",
        applies: |run| matches!(run.scenario.topology, Topology::Star),
    },
    ValidityRule {
        name: "one-by-one-degree",
        says: "nodes dial one by one: their meshes stop growing at relay.d_low, so that relay.d hardly changes them, and were \
               compared with relay.d = 6 only",
        applies: |run| {
            let degree = run.scenario.relay.gossip.degrees.d;
            run.scenario.dialling == Dialling::OneByOne && degree != COMPARED_DEGREE
        },
    },
    ValidityRule {
        name: "router-profile",
        says: "the router follows rules read in another implementation's source, and was not compared with its nodes",
        applies: |run| !COMPARED_PROFILES.contains(&run.scenario.relay.gossip.policy.profile),
    },
    ValidityRule {
        name: "loss",
        says: "packets are lost at random: recovery from losses was compared with no other network",
        applies: |run| {
            let network = &run.scenario.network;
            let of_places = network.place_loss.iter().flatten();
            network.loss > 0.0 || of_places.into_iter().any(|loss| *loss > 0.0)
        },
    },
    ValidityRule {
        name: "jitter",
        says: "delays vary: jitter is added to bursts and not to packets, and was compared with no other network",
        applies: |run| run.scenario.network.jitter_ns > 0,
    },
    ValidityRule {
        name: "faults",
        says: "nodes or links fail: what connections do then was compared with no other network",
        applies: fails,
    },
    ValidityRule {
        name: "light-clients",
        says: "light clients and their services: their streams were compared with no other network",
        applies: |run| run.scenario.services.is_some(),
    },
];

fn fails(run: &RunFacts<'_>) -> bool {
    let mut kinds = run.scenario.faults.iter().map(|fault| fault.kind);
    // Faults of nodes that leave connections and links intact are exempt.
    kinds.any(|kind| {
        !matches!(
            kind,
            FaultKind::Spam { .. }
                | FaultKind::Silent
                | FaultKind::Join
                | FaultKind::ClockSkew { .. }
        )
    })
}
