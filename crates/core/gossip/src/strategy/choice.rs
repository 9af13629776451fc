//! The strategies that a configuration can choose.

use std::sync::Arc;

use super::checked::Checked;
use super::dandelion::Dandelion;
use super::eager_mesh::EagerMesh;
use super::flood::Flood;
use super::interface::{Strategy, StrategyFactory};
use super::kind::StrategyKind;
use super::reduced::Reduced;
use super::staggered::Staggered;

/// Creates a built-in strategy.
fn built_in(kind: StrategyKind) -> Box<dyn Strategy> {
    match kind {
        StrategyKind::Dandelion => Box::new(Dandelion::default()),
        StrategyKind::EagerMesh => Box::new(EagerMesh),
        StrategyKind::Flood => Box::new(Flood),
        StrategyKind::Staggered => Box::new(Staggered),
        StrategyKind::Reduced => Box::new(Reduced),
    }
}

/// Strategy of a configuration: a built-in or a custom one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StrategyChoice {
    /// A built-in strategy.
    BuiltIn(StrategyKind),
    /// A custom strategy, created once for each router.
    Custom(Arc<dyn StrategyFactory>),
}

impl StrategyChoice {
    /// Chooses a custom strategy.
    pub fn custom(factory: impl StrategyFactory + 'static) -> Self {
        Self::Custom(Arc::new(factory))
    }

    pub(crate) fn build(&self) -> Box<dyn Strategy> {
        match self {
            Self::BuiltIn(kind) => built_in(*kind),
            Self::Custom(factory) => Box::new(Checked::new(factory.build())),
        }
    }
}

impl From<StrategyKind> for StrategyChoice {
    fn from(kind: StrategyKind) -> Self {
        Self::BuiltIn(kind)
    }
}

/// Built-in strategies are equal by kind; a custom choice is equal only to its own clones.
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
