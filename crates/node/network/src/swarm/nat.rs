//! NAT traversal: reachability checks (AutoNAT), circuits through relays, and hole punching.
//!
//! libp2p's behaviours do the work. Two wrappers limit what strangers can make them do: [`Reachability`] and
//! [`HolePunching`].

mod hole_punching;
mod limits;
mod probe_only;
mod reachability;

use std::time::Duration;

use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{PeerId, autonat, relay};

pub(crate) use hole_punching::HolePunching;
pub use limits::CircuitLimits;
pub(crate) use probe_only::ProbeOnly;
pub(crate) use reachability::Reachability;

/// Protocol id by which a peer announces that it relays circuits.
pub(crate) const HOP_PROTOCOL: &str = "/libp2p/circuit/relay/0.2.0/hop";

/// Time after the start before the first probe, for connections to be made.
const FIRST_PROBE: Duration = Duration::from_secs(15);

/// Time between probes while the answers differ or are few.
const PROBE_AGAIN: Duration = Duration::from_secs(30);

/// Period over which dial-backs for peers are counted.
const PROBE_PERIOD: Duration = Duration::from_secs(60);

/// Maximum number of dial-backs for peers within [`PROBE_PERIOD`].
const PROBES_MAX: usize = 30;

/// Maximum number of dial-backs for one peer within that period.
const PROBES_PER_PEER_MAX: usize = 3;

/// Maximum number of a peer's addresses that are dialled back. All have the IP address that the peer connects from.
const PROBED_ADDRESSES_MAX: usize = 8;

/// NAT traversal that a node uses or offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatOptions {
    /// Whether the node asks its peers to check its reachability, and answers their requests.
    pub autonat: bool,
    /// Time after the start before its first request.
    pub first_probe: Duration,
    /// Whether only peers at public IP addresses are asked and answered, and private addresses are dialled only if the
    /// operator named them. Other peers know nothing about reachability from the Internet.
    pub only_global_ips: bool,
    /// Bounds on circuits through this node, which require that others can reach it; `None` for no circuits.
    pub circuits: Option<CircuitLimits>,
    /// When the node is reached through relays and punches holes.
    pub relay_client: RelayClient,
}

/// When a node asks relays for reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayClient {
    /// Never; it does not dial through relays either.
    Never,
    /// While its peers say that they cannot reach it.
    IfUnreachable,
    /// From the start.
    Always,
}

impl NatOptions {
    /// Returns the options of a node without AutoNAT and relays.
    pub fn none() -> Self {
        Self {
            autonat: false,
            circuits: None,
            relay_client: RelayClient::Never,
            ..Self::default()
        }
    }
}

impl Default for NatOptions {
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

/// Behaviours for NAT traversal, each if enabled.
#[derive(NetworkBehaviour)]
pub(crate) struct NatBehaviour {
    pub(crate) reachability: Toggle<Reachability>,
    pub(crate) circuits: Toggle<relay::Behaviour>,
    pub(crate) relayed: Toggle<relay::client::Behaviour>,
    pub(crate) hole_punching: Toggle<HolePunching>,
}

impl NatBehaviour {
    /// Builds the behaviours, and the transport of circuits if the node uses any. Connections dialled to check the
    /// reachability of peers are put into `probe_only`.
    pub(crate) fn new(
        own: PeerId,
        options: &NatOptions,
        probe_only: ProbeOnly,
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
            Reachability::new(autonat::v1::Behaviour::new(own, config), probe_only)
        });
        let circuits = options.circuits.as_ref().map(|limits| {
            let mut circuits = relay::Behaviour::new(own, limits.config());
            // Disabled until a peer has reached this node; the driver decides.
            circuits.set_status(Some(relay::Status::Disable));
            circuits
        });
        let is_client = options.relay_client != RelayClient::Never;
        let (transport, relayed) = is_client.then(|| relay::client::new(own)).unzip();
        let nat = Self {
            reachability: reachability.into(),
            circuits: circuits.into(),
            relayed: relayed.into(),
            hole_punching: is_client.then(|| HolePunching::new(own)).into(),
        };
        (nat, transport)
    }
}
