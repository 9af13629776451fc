//! Light mode: follows a contract's newest roots and one member's path by `eth_call`,
//! without the tree.
//!
//! `follow` decides which request is next and `pace` when to poll; `between` finds roots that the
//! contract does not keep, `view` holds the result, `store` keeps it in a file, and `worker` is the
//! thread that connects them with the endpoints.

mod between;
mod follow;
mod pace;
mod registry;
mod store;
mod view;
mod worker;

pub use registry::LightRegistry;
pub use view::LightView;
