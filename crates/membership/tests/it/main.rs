//! Tests of registries as several processes see them, and on a real chain.

#[cfg(all(feature = "evm", feature = "module"))]
mod chain;
#[cfg(all(feature = "module", feature = "sqlite"))]
mod module_kill;
#[cfg(feature = "sqlite")]
mod processes;
