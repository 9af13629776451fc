//! Rendezvous with other nodes: signed records, and requests to the nodes that keep them.

mod client;
mod record;

pub(crate) use client::{RendezvousClient, Turn};
pub(crate) use record::{PeerAddresses, sign_record};

pub(super) use record::is_record_of;
