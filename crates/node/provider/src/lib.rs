//! Services that a node offers and requests, and its discovery of peers, on the streams of `undertone-network`.
//!
//! [`services`] drives the state machines of `undertone-services`: store, filter, lightpush, peer exchange, rendezvous,
//! synchronisation of stores, accountable sending and reliable channels. [`discovery`] finds peers by DNS, discv5, peer
//! exchange and rendezvous.

pub mod discovery;
pub mod services;
