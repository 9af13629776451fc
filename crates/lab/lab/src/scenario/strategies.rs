//! Strategies supplied by programs that use the laboratory, by the names with which scenarios select them.

use std::sync::{Mutex, PoisonError};

use thiserror::Error;
use undertone_gossip::{StrategyChoice, StrategyFactory, StrategyKind};

/// Strategies that the program has registered, in order of registration.
static REGISTERED: Mutex<Vec<(&str, StrategyChoice)>> = Mutex::new(Vec::new());

/// Returned when a strategy already has the name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a strategy is called {name:?} already")]
pub struct StrategyNameTaken {
    /// Name of both strategies.
    pub name: &'static str,
}

/// Lets scenarios select one of the program's strategies by name: `relay.strategy = "NAME"`. Results state only the
/// name, so another strategy, or the same one with other parameters, should have another name.
///
/// # Errors
/// Fails if a built-in or registered strategy already has the name.
pub fn register_strategy(
    name: &'static str,
    factory: impl StrategyFactory + 'static,
) -> Result<(), StrategyNameTaken> {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut built_in = StrategyKind::NAMES.iter();
    let is_taken = built_in.any(|(known, _)| *known == name)
        || registered.iter().any(|(known, _)| *known == name);
    if is_taken {
        return Err(StrategyNameTaken { name });
    }
    registered.push((name, StrategyChoice::custom(factory)));
    Ok(())
}

/// All strategies with their names, those built in first.
pub(super) fn all() -> Vec<(&'static str, StrategyChoice)> {
    let built_in = StrategyKind::NAMES.iter();
    let built_in = built_in.map(|(name, kind)| (*name, StrategyChoice::from(*kind)));
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    built_in.chain(registered.iter().cloned()).collect()
}
