//! What a node serves to others, what it asks of others, and how it finds them, on the streams of `undertone-network`.
//!
//! [`services`] drives the machines of `undertone-services`: store, filter, lightpush, peer exchange, rendezvous, synchronisation of
//! stores, accountable sending and reliable channels. [`discovery`] finds peers by DNS, discv5, peer exchange and rendezvous.

pub mod discovery;
pub mod services;
