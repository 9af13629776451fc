//! Experiments, one file for each.

mod anonymity;
mod attacks;
mod bandwidth;
mod churn;
mod cities;
mod control_share;
mod faults;
mod hashing;
mod hops;
mod large_messages;
mod light_clients;
mod load;
mod message_rate;
mod paper_latency;
mod platforms;
mod rate_limiters;
mod reliability;
mod rln_100;
mod spam;
mod tree_sync;
mod versions;

use super::Experiment;

/// All experiments, in the order in which they are listed and reported.
pub const EXPERIMENTS: &[Experiment] = &[
    platforms::EXPERIMENT,
    cities::EXPERIMENT,
    hashing::EXPERIMENT,
    paper_latency::EXPERIMENT,
    hops::EXPERIMENT,
    bandwidth::EXPERIMENT,
    rln_100::EXPERIMENT,
    spam::EXPERIMENT,
    tree_sync::EXPERIMENT,
    large_messages::EXPERIMENT,
    versions::EXPERIMENT,
    churn::EXPERIMENT,
    message_rate::EXPERIMENT,
    faults::EXPERIMENT,
    rate_limiters::EXPERIMENT,
    light_clients::EXPERIMENT,
    control_share::EXPERIMENT,
    reliability::EXPERIMENT,
    attacks::EXPERIMENT,
    anonymity::EXPERIMENT,
];

const PAPER: &str = "Revuelta et al., Message Latency in Waku Relay with RLN, DLT 2024";
