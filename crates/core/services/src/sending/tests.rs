//! A sender among relays, lightpush peers, stores and crashes.

mod crashes;
mod fragments;
mod peer_wait;
mod promises;
mod renewal;
mod ways;
mod witnesses;
mod world;
