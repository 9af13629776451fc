//! Waku Relay with RLN as one sans-IO machine.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
