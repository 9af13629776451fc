//! Ways through walls: whether this node can be reached (AutoNAT), circuits through relays, and hole punching.
//!
//! libp2p's behaviours do the work. Two wrappers keep what strangers can make them do within bounds: [`Reachability`]
//! and [`HolePunching`].

mod hole_punching;
mod limits;
mod muted;
mod reachability;

use std::time::Duration;

use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{PeerId, autonat, relay};

pub(crate) use hole_punching::HolePunching;
pub use limits::CircuitLimits;
pub(crate) use muted::Muted;
pub(crate) use reachability::Reachability;

/// Protocol id by which a peer says that it relays circuits.
pub(crate) const HOP_PROTOCOL: &str = "/libp2p/circuit/relay/0.2.0/hop";

/// Time after the start before the first question, for connections to be made.
const FIRST_PROBE: Duration = Duration::from_secs(15);

/// Time between questions while the answers differ or are few.
const PROBE_AGAIN: Duration = Duration::from_secs(30);

/// Time in which the peers that this node dials back are counted.
const PROBE_PERIOD: Duration = Duration::from_secs(60);

/// Most dials for peers that want to know whether they can be reached, within [`PROBE_PERIOD`].
const PROBES_MAX: usize = 30;

/// Most of them for one peer.
const PROBES_PER_PEER_MAX: usize = 3;

/// Most addresses of a peer that are dialled for it. All have the IP address that the peer connects from.
const PROBED_ADDRESSES_MAX: usize = 8;

/// Ways through walls that a node uses or offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageOptions {
    /// Whether the node asks its peers whether it can be reached, and answers them.
    pub autonat: bool,
    /// Time after the start before it first asks.
    pub first_probe: Duration,
    /// Whether only peers at public IP addresses are asked and answered, and private addresses are dialled only if the operator
    /// has given them. Others know nothing of the Internet.
    pub only_global_ips: bool,
    /// Bounds on circuits through this node, if others can reach it; `None` for no circuits.
    pub circuits: Option<CircuitLimits>,
    /// When the node is reached through relays, and punches holes.
    pub relay_client: RelayClient,
}

/// When a node reserves a place at relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayClient {
    /// Never; it does not dial through relays either.
    Never,
    /// While its peers say that they cannot reach it.
    IfUnreachable,
    /// From the start.
    Always,
}

impl PassageOptions {
    /// Returns the options of a node that neither asks nor relays nor is relayed.
    pub fn none() -> Self {
        Self {
            autonat: false,
            circuits: None,
            relay_client: RelayClient::Never,
            ..Self::default()
        }
    }
}

impl Default for PassageOptions {
    fn default() -> Self {
        Self {
            autonat: true,
            first_probe: FIRST_PROBE,
            only_global_ips: true,
            circuits: Some(CircuitLimits::default()),
            relay_client: RelayClient::IfUnreachable,
        }
    }
}

/// Behaviours of the ways through walls, as far as they are on.
#[derive(NetworkBehaviour)]
pub(crate) struct Passage {
    pub(crate) reachability: Toggle<Reachability>,
    pub(crate) circuits: Toggle<relay::Behaviour>,
    pub(crate) relayed: Toggle<relay::client::Behaviour>,
    pub(crate) hole_punching: Toggle<HolePunching>,
}

impl Passage {
    /// Builds the behaviours, and the transport of circuits if the node uses any. The connections by which it tells
    /// peers whether they can be reached are put into `muted`.
    pub(crate) fn new(
        own: PeerId,
        options: &PassageOptions,
        muted: Muted,
    ) -> (Self, Option<relay::client::Transport>) {
        let reachability = options.autonat.then(|| {
            let config = autonat::v1::Config {
                boot_delay: options.first_probe,
                retry_interval: PROBE_AGAIN,
                max_peer_addresses: PROBED_ADDRESSES_MAX,
                throttle_clients_global_max: PROBES_MAX,
                throttle_clients_peer_max: PROBES_PER_PEER_MAX,
                throttle_clients_period: PROBE_PERIOD,
                only_global_ips: options.only_global_ips,
                ..autonat::v1::Config::default()
            };
            Reachability::new(autonat::v1::Behaviour::new(own, config), muted)
        });
        let circuits = options.circuits.as_ref().map(|limits| {
            let mut circuits = relay::Behaviour::new(own, limits.config());
            // Until somebody could reach this node; the driver decides.
            circuits.set_status(Some(relay::Status::Disable));
            circuits
        });
        let is_client = options.relay_client != RelayClient::Never;
        let (transport, relayed) = is_client.then(|| relay::client::new(own)).unzip();
        let passage = Self {
            reachability: reachability.into(),
            circuits: circuits.into(),
            relayed: relayed.into(),
            hole_punching: is_client.then(|| HolePunching::new(own)).into(),
        };
        (passage, transport)
    }
}
