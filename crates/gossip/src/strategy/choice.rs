//! The strategies that a configuration can choose.

use std::sync::Arc;

use super::checked::Checked;
use super::eager_mesh::EagerMesh;
use super::flood::Flood;
use super::interface::{Strategy, StrategyFactory};
use super::reduced::Reduced;
use super::staggered::Staggered;

/// Built-in strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrategyKind {
    /// GossipSub: full copies to the mesh, ids to some other subscribers.
    EagerMesh,
    /// Flooding: a full copy to every subscriber (Waku v1, floodsub).
    Flood,
    /// GossipSub, but large messages go to a few peers of the mesh at a time.
    Staggered,
    /// GossipSub, but large messages go to some peers of the mesh and their ids to the others.
    Reduced,
}

impl StrategyKind {
    fn build(self) -> Box<dyn Strategy> {
        match self {
            Self::EagerMesh => Box::new(EagerMesh),
            Self::Flood => Box::new(Flood),
            Self::Staggered => Box::new(Staggered),
            Self::Reduced => Box::new(Reduced),
        }
    }
}

/// Strategy of a configuration: a built-in one, or one of the caller's own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StrategyChoice {
    /// A built-in strategy.
    BuiltIn(StrategyKind),
    /// A strategy of the caller's own, created once for each router.
    Custom(Arc<dyn StrategyFactory>),
}

impl StrategyChoice {
    /// Chooses a strategy of the caller's own.
    pub fn custom(factory: impl StrategyFactory + 'static) -> Self {
        Self::Custom(Arc::new(factory))
    }

    pub(crate) fn build(&self) -> Box<dyn Strategy> {
        match self {
            Self::BuiltIn(kind) => kind.build(),
            Self::Custom(factory) => Box::new(Checked::new(factory.build())),
        }
    }
}

impl From<StrategyKind> for StrategyChoice {
    fn from(kind: StrategyKind) -> Self {
        Self::BuiltIn(kind)
    }
}

/// Built-in strategies are equal by kind; a caller's own is equal to clones of the same choice only.
impl PartialEq for StrategyChoice {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::BuiltIn(a), Self::BuiltIn(b)) => a == b,
            (Self::Custom(a), Self::Custom(b)) => Arc::ptr_eq(a, b),
            (Self::BuiltIn(_), Self::Custom(_)) | (Self::Custom(_), Self::BuiltIn(_)) => false,
        }
    }
}

impl Eq for StrategyChoice {}

impl PartialEq<StrategyKind> for StrategyChoice {
    fn eq(&self, kind: &StrategyKind) -> bool {
        matches!(self, Self::BuiltIn(own) if own == kind)
    }
}
