//! Following the contract on a real chain.

mod faults;
mod proxy;
mod reorganisations;
mod restarts;
mod rig;
mod sync;
