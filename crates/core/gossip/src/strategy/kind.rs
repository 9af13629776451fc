//! Names of the strategies, as used in configurations and scenarios.

use std::str::FromStr;

use thiserror::Error;

/// Built-in strategies, which a configuration selects by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrategyKind {
    /// Dandelion++: a message passes through some peers one by one, then spreads as in GossipSub.
    Dandelion,
    /// GossipSub: full copies to the mesh, ids to some other subscribers.
    EagerMesh,
    /// Flooding: a full copy to every subscriber (Waku v1, floodsub).
    Flood,
    /// GossipSub, but large messages go to a few peers of the mesh at a time.
    Staggered,
    /// GossipSub, but large messages go to some peers of the mesh and their ids to the others.
    Reduced,
}

/// Error for an unknown strategy name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no strategy is called {name:?}")]
pub struct UnknownStrategy {
    /// Name that was requested.
    pub name: String,
}

impl StrategyKind {
    /// Each strategy with its name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("eager-mesh", Self::EagerMesh),
        ("flood", Self::Flood),
        ("staggered", Self::Staggered),
        ("reduced", Self::Reduced),
        ("dandelion", Self::Dandelion),
    ];
}

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| *kind).ok_or_else(|| UnknownStrategy {
            name: name.to_owned(),
        })
    }
}
