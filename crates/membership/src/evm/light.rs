//! Following a contract without its tree: the newest roots, and one member's path, by `eth_call`.
//!
//! `follow` decides what to ask and `pace` when, `between` finds roots that the contract does not keep, `view` is what came of it, `store` keeps that, and
//! `worker` is the thread between them and the endpoints.

mod between;
mod follow;
mod pace;
mod registry;
mod store;
mod view;
mod worker;

pub use registry::LightRegistry;
pub use view::LightView;
