//! WakuMessage, its hash, topics, sharding and network presets.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
