//! Tests of registries as several processes see them, and on a real chain.

#[cfg(feature = "evm")]
mod chain;
#[cfg(feature = "sqlite")]
mod processes;
