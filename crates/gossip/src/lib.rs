//! GossipSub and flood routing as one sans-IO state machine.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
