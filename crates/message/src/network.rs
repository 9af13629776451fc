//! Networks as data: what must be equal on all nodes for them to understand one another.

use std::num::NonZeroU16;

use thiserror::Error;

#[cfg(test)]
mod tests;

/// The constants of one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkPreset {
    /// By what name it is chosen.
    pub name: &'static str,
    /// First number of its pubsub topics; peers of another cluster are disconnected.
    pub cluster_id: u16,
    /// How many shards autosharding spreads over.
    pub num_shards: NonZeroU16,
    /// Whether a message is heard on the shard of its content topic only. Otherwise shards may be used
    /// for anything, and automatic sharding is for those who ask for it.
    pub one_shard_per_content_topic: bool,
    /// Longest encoded `WakuMessage`, bytes.
    pub max_message_bytes: usize,
    /// Whether pubsub topics other than static shards are allowed.
    pub named_topics: bool,
    /// Rate limiting, `None` when the network has none.
    pub rln: Option<RlnParams>,
    /// Where memberships are registered, `None` when each node has its own registry.
    pub chain: Option<ChainParams>,
}

/// Rate Limiting Nullifier parameters (RFC 17 and 64, with the values nwaku uses).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RlnParams {
    /// How the external nullifier is made.
    pub generation: RlnGeneration,
    /// Length of an epoch, seconds.
    pub epoch_size_s: u64,
    /// Messages that one membership may send in an epoch, at most.
    pub user_message_limit: u64,
    /// Messages that all memberships together may send in an epoch, at most: the largest total rate limit
    /// that a registry of the network has.
    pub max_messages_per_epoch: usize,
    /// How many recent membership roots are accepted.
    pub root_window: usize,
    /// How far a message's timestamp may be from our clock, whole seconds.
    pub max_clock_gap_s: u64,
}

/// How epoch and RLN identifier become the external nullifier; the two do not understand each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RlnGeneration {
    /// Both taken as field elements directly: nwaku up to v0.37.
    Direct,
    /// Both hashed to the field with Keccak-256 first: nwaku v0.38 and later.
    Hashed,
}

/// Where the membership contract lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainParams {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Address of the membership contract, `0x` and 40 hex digits with EIP-55 capitals.
    pub contract: &'static str,
}

const EIGHT_SHARDS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not zero");

const RLN: RlnParams = RlnParams {
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
};

/// Every network known by name.
pub const PRESETS: [NetworkPreset; 3] = [
    NetworkPreset {
        name: "local",
        cluster_id: 66,
        max_message_bytes: 1024 * 1024,
        named_topics: true,
        one_shard_per_content_topic: false,
        chain: None,
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

/// No preset has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no network is called {name:?}; did you mean {nearest:?}? known: {}",
    known()
)]
pub struct UnknownNetwork {
    /// What was asked for.
    pub name: String,
    /// The known name closest to it.
    pub nearest: &'static str,
}

fn known() -> String {
    PRESETS.map(|preset| preset.name).join(", ")
}

impl NetworkPreset {
    /// The preset called `name`.
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
