//! A sender among relays, lightpush peers, stores and crashes.

mod crashes;
mod promises;
mod ways;
mod world;
