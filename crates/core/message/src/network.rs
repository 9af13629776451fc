//! Network presets: the constants that must be equal on all nodes of a network.

use std::num::NonZeroU16;

use thiserror::Error;

#[cfg(test)]
#[path = "tests/network.rs"]
mod tests;

/// The constants of one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkPreset {
    /// Name by which the network is selected.
    pub name: &'static str,
    /// Cluster id, the first number of the network's pubsub topics; peers of another
    /// cluster are disconnected.
    pub cluster_id: u16,
    /// Number of shards over which autosharding spreads the content topics.
    pub num_shards: NonZeroU16,
    /// Whether a message may be relayed only on the shard of its content topic. Otherwise shards
    /// may be used for anything, and autosharding is optional.
    pub one_shard_per_content_topic: bool,
    /// Maximum length of an encoded `WakuMessage`, in bytes.
    pub max_message_bytes: usize,
    /// Whether pubsub topics other than static shards are allowed.
    pub named_topics: bool,
    /// Parameters of rate limiting; `None` when the network has none.
    pub rln: Option<RlnParams>,
    /// Membership contract of the network; `None` when each node has its own registry.
    pub chain: Option<ChainParams>,
    /// Signed DNS lists of nodes to start discovery with (EIP-1459), `enrtree://KEY@DOMAIN`.
    pub node_lists: &'static [&'static str],
}

/// Rate Limiting Nullifier parameters (RFC 17 and 64, with the values nwaku uses).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RlnParams {
    /// Name of the circuit, which determines the keys for making and verifying proofs, and the depth of the
    /// tree.
    pub circuit: &'static str,
    /// Construction of the external nullifier.
    pub generation: RlnGeneration,
    /// Length of an epoch, in seconds.
    pub epoch_size_s: u64,
    /// Maximum number of messages that one membership may send in an epoch.
    pub user_message_limit: u64,
    /// Maximum number of messages that all memberships together may send in an epoch: the largest total rate
    /// limit of any of the network's registries.
    pub max_messages_per_epoch: usize,
    /// Number of recent membership roots that are accepted.
    pub root_window: usize,
    /// Maximum distance of a message's timestamp from our clock, in whole seconds.
    pub max_clock_gap_s: u64,
}

/// Construction of the external nullifier from epoch and RLN identifier; the two are incompatible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RlnGeneration {
    /// Both taken as field elements directly: nwaku up to v0.37.
    Direct,
    /// Both hashed to the field with Keccak-256 first: nwaku v0.38 and later.
    Hashed,
}

/// Chain and address of the membership contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainParams {
    /// Chain id, as of EIP-155.
    pub chain_id: u64,
    /// Address of the membership contract, `0x` and 40 hex digits with EIP-55 capitals.
    pub contract: &'static str,
}

const EIGHT_SHARDS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not zero");

const RLN: RlnParams = RlnParams {
    circuit: "rln-v2-depth-20",
    generation: RlnGeneration::Hashed,
    epoch_size_s: 600,
    user_message_limit: 100,
    max_messages_per_epoch: 1_000_000,
    root_window: 50,
    max_clock_gap_s: 20,
};

const TWN: NetworkPreset = NetworkPreset {
    name: "twn",
    cluster_id: 1,
    num_shards: EIGHT_SHARDS,
    one_shard_per_content_topic: true,
    max_message_bytes: 150 * 1024,
    named_topics: false,
    rln: Some(RLN),
    chain: Some(ChainParams {
        chain_id: 59141,
        contract: "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6",
    }),
    // The list of nwaku's preset of this network.
    node_lists: &[
        "enrtree://AIRVQ5DDA4FFWLRBCHJWUWOO6X6S4ZTZ5B667LQ6AJU6PEYDLRD5O@sandbox.waku.nodes.status.im",
    ],
};

/// Presets of all networks that are known by name.
pub const PRESETS: [NetworkPreset; 3] = [
    NetworkPreset {
        name: "local",
        cluster_id: 66,
        max_message_bytes: 1024 * 1024,
        named_topics: true,
        one_shard_per_content_topic: false,
        chain: None,
        node_lists: &[],
        ..TWN
    },
    TWN,
    NetworkPreset {
        name: "twn-v0.37",
        rln: Some(RlnParams {
            generation: RlnGeneration::Direct,
            ..RLN
        }),
        ..TWN
    },
];

/// Error for an unknown network name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no network is called {name:?}; did you mean {nearest:?}? known: {}",
    known()
)]
pub struct UnknownNetwork {
    /// Name that was requested.
    pub name: String,
    /// The known name closest to the requested one.
    pub nearest: &'static str,
}

fn known() -> String {
    PRESETS.map(|preset| preset.name).join(", ")
}

impl NetworkPreset {
    /// Returns the preset called `name`.
    ///
    /// # Errors
    /// [`UnknownNetwork`] when no preset has this name.
    pub fn by_name(name: &str) -> Result<Self, UnknownNetwork> {
        if let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) {
            return Ok(*preset);
        }
        let nearest = PRESETS
            .iter()
            .map(|preset| preset.name)
            .min_by_key(|known| strsim::damerau_levenshtein(known, name))
            .expect("PRESETS is not empty");
        Err(UnknownNetwork {
            name: name.to_owned(),
            nearest,
        })
    }
}
