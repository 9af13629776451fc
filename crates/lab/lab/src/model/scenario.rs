//! Parameters of the refined model, taken from a scenario.

use std::time::Duration;

use thiserror::Error;
use undertone_gossip::FloodPublish;
use undertone_sim::Scenario;
use undertone_sim::scenario::{Delay, TcpProfile, Topology, Verification};

use super::spread::SpreadParams;

/// Payload of a TCP segment, and the headers of TCP and IP before it, bytes.
const SEGMENT_BYTES: f64 = 1_460.0;
const HEADER_BYTES: f64 = 40.0;
/// Size of a proof and its field in a message, bytes, as published.
const PROOF_BYTES: f64 = 384.0;
/// Size of topics, timestamp and lengths around a payload, bytes; exact to some ten bytes, which is one
/// part in 200 of the smallest published message.
const ENVELOPE_BYTES: f64 = 80.0;
/// Packet part of Shadow's token bucket, bytes; the bucket holds one millisecond of the
/// rate and one packet.
const SHADOW_PACKET_BYTES: f64 = 1_500.0;

/// Reason why a scenario has no prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoPrediction {
    /// Delays between nodes differ.
    #[error("the closed form is for one delay between any two nodes; this scenario has several")]
    Delays,
    /// The connections are listed one by one, so the mesh is not a random graph.
    #[error("the closed form is for random topologies (dials, regular, full-mesh)")]
    Topology,
    /// Nodes subscribe to some topics only, and the topics do not form separate networks.
    #[error(
        "the closed form is for nodes that all have the same topics, or one each and dial others of it (dials)"
    )]
    Topics,
    /// Packets are lost at random.
    #[error("the closed form does not cover packet loss")]
    Loss,
    /// The scenario has faults.
    #[error("the closed form does not cover faults")]
    Faults,
}

/// Measurements of a run that complete the scenario's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredMesh {
    /// Mean degree of the mesh.
    pub degree: f64,
    /// Length of a frame with a message, bytes.
    pub frame_bytes: Option<f64>,
}

/// Returns the parameters for a message of a given size. Without a measured mesh, the mesh degree is
/// assumed to be the target, and the frame size is estimated.
///
/// # Errors
/// Returns [`NoPrediction`] when the closed form does not describe the scenario.
pub fn spread_params(
    scenario: &Scenario,
    payload_bytes: u32,
    measured: Option<MeasuredMesh>,
) -> Result<SpreadParams, NoPrediction> {
    let network = &scenario.network;
    let Delay::Constant { one_way_ns } = network.delay else {
        return Err(NoPrediction::Delays);
    };
    if network.loss > 0.0 || !network.place_loss.is_empty() {
        return Err(NoPrediction::Loss);
    }
    if !scenario.faults.is_empty() {
        return Err(NoPrediction::Faults);
    }
    let nodes = match (scenario.relay.topics_per_node, &scenario.topology) {
        (None, _) => scenario.nodes,
        // Each topic is a network of its own, as nodes dial only those of their topic.
        (Some(1), Topology::Dials(_)) => scenario.nodes / scenario.relay.topics.max(1),
        (Some(_), _) => return Err(NoPrediction::Topics),
    };
    if nodes < 2 {
        return Err(NoPrediction::Topics);
    }
    let connections = match scenario.topology {
        Topology::Dials(dials) => (2 * dials).min(nodes - 1),
        Topology::Regular(degree) => degree,
        Topology::FullMesh => nodes - 1,
        _ => return Err(NoPrediction::Topology),
    };
    let gossip = &scenario.relay.gossip;
    let target = f64::from(u32::try_from(gossip.degrees.d).unwrap_or(u32::MAX));
    let mesh_degree = measured
        .map_or(target, |measured| measured.degree)
        .min(f64::from(connections));
    let frame_bytes = measured
        .and_then(|measured| measured.frame_bytes)
        .unwrap_or_else(|| {
            let proof = if scenario.rln.is_some() {
                PROOF_BYTES
            } else {
                0.0
            };
            f64::from(payload_bytes) + proof + ENVELOPE_BYTES
        });
    let stream_bytes = frame_bytes + f64::from(network.mux_overhead_bytes);
    let wire_bytes = stream_bytes + HEADER_BYTES * (stream_bytes / SEGMENT_BYTES).ceil();
    let copy_ms = |bytes_per_s: u64| wire_bytes / bytes_per_s as f64 * 1e3;
    let flood = match gossip.flood_publish {
        FloodPublish::Off => None,
        FloodPublish::On => Some(connections),
        FloodPublish::BoundedByRate { rate_bytes_per_ms } => {
            let bound = flood_bound(payload_bytes, rate_bytes_per_ms, gossip.heartbeat);
            let least = u32::try_from(gossip.degrees.d_low).unwrap_or(u32::MAX);
            Some(connections.min(bound.max(least)))
        }
    };
    let (generation_ns, validation_ns) = scenario.rln.as_ref().map_or((0, 0), |rln| {
        let validation_ns = match rln.verification {
            Verification::Wait { ns } => ns,
            Verification::Batches { single_ns, .. } => single_ns,
        };
        (rln.generation_ns, validation_ns)
    });
    let burst_ms = match network.tcp {
        TcpProfile::Linux | TcpProfile::LinuxDevice => 0.0,
        TcpProfile::Shadow => 1.0 + SHADOW_PACKET_BYTES / network.uplink_bytes_per_s as f64 * 1e3,
    };
    Ok(SpreadParams {
        nodes,
        first_copies: flood.unwrap_or(mesh_degree.round() as u32),
        first_to_mesh: flood.is_none(),
        mesh_degree,
        up_copy_ms: copy_ms(network.uplink_bytes_per_s),
        down_copy_ms: copy_ms(network.downlink_bytes_per_s),
        burst_ms,
        one_way_ms: one_way_ns as f64 / 1e6,
        generation_ms: generation_ns as f64 / 1e6,
        validation_ms: validation_ns as f64 / 1e6,
    })
}

/// Number of copies that the assumed rate can send within a heartbeat, with the rounding of nim-libp2p.
fn flood_bound(payload_bytes: u32, rate_bytes_per_ms: usize, heartbeat: Duration) -> u32 {
    let payload_bytes = usize::try_from(payload_bytes).unwrap_or(usize::MAX);
    let send_ms = (payload_bytes / rate_bytes_per_ms.max(1)).max(1);
    let heartbeat_ms = usize::try_from(heartbeat.as_millis()).unwrap_or(usize::MAX);
    u32::try_from(heartbeat_ms / send_ms).unwrap_or(u32::MAX)
}
