//! GossipSub's strategy: full messages are sent along the mesh.

use super::{Strategy, View};
use crate::config::{Config, FloodPublish};
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct EagerMesh;

impl Strategy for EagerMesh {}

pub(super) fn forward(view: &View<'_>) -> Vec<PeerIx> {
    let subscribers = view.topic.subscribers.as_slice().iter().copied();
    subscribers
        .filter(|p| view.topic.mesh.contains(*p) || view.is_always_sent(*p))
        .collect()
}

pub(super) fn publish(view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
    let topic = view.topic;
    let base = if topic.joined {
        &topic.mesh
    } else {
        &topic.fanout
    };
    let mut chosen: Vec<_> = base.as_slice().to_vec();
    let subscribers = topic.subscribers.as_slice().iter().copied();
    chosen.extend(subscribers.filter(|p| !base.contains(*p) && view.is_always_sent(*p)));
    let Some(max) = flood_max(view.config, len) else {
        return chosen;
    };
    let mut flood: Vec<_> = topic
        .subscribers
        .as_slice()
        .iter()
        .copied()
        .filter(|p| !chosen.contains(p) && view.is_publishable(*p))
        .collect();
    let room = max.saturating_sub(chosen.len()).min(flood.len());
    // Random only if some are left out. A fixed order keeps those connections in front that carried the
    // last message, and whose congestion windows are therefore open.
    if room < flood.len() {
        rng.choose(&mut flood, room);
    }
    chosen.extend_from_slice(&flood[..room]);
    chosen
}

/// Maximum number of peers to flood a message of `len` bytes to; `None` when flooding is off.
fn flood_max(config: &Config, len: usize) -> Option<usize> {
    match config.flood_publish {
        FloodPublish::Off => None,
        FloodPublish::On => Some(usize::MAX),
        FloodPublish::BoundedByRate { rate_bytes_per_ms } => {
            let send_ms = (len / rate_bytes_per_ms.max(1)).max(1);
            let heartbeat_ms = usize::try_from(config.heartbeat.as_millis()).unwrap_or(usize::MAX);
            Some((heartbeat_ms / send_ms).max(config.degrees.d_low))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_is_bounded_as_nwaku_bounds_it() {
        let config = Config::waku();
        let max = |len| flood_max(&config, len);
        assert_eq!(max(2_000), Some(1000));
        assert_eq!(max(25_000), Some(500));
        assert_eq!(max(100_000), Some(125));
        assert_eq!(max(500_000), Some(25));
        assert_eq!(max(50_000_000), Some(config.degrees.d_low));
    }
}
