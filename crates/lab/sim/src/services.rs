//! Services of a simulated node: the shipped state machines, driven in virtual time.

pub(crate) mod archive;
pub(crate) mod frames;
pub(crate) mod io;
mod lies;
mod outputs;
pub(crate) mod records;
mod requests;
pub(crate) mod server;
mod sessions;
mod sync;
