use std::time::Duration;

use rand_core::SeedableRng;

use super::*;
use crate::{CausalHistoryEntry, SdsLimits, SdsMessage};

mod acknowledgement;
mod liar;
mod network;
mod order;
mod repair;
mod restart;
mod timers;

/// Unix time at which the tests begin, in milliseconds.
const START_MS: u64 = 1_767_225_600_000;

fn config(name: &str) -> SdsConfig {
    let mut config = SdsConfig::new("town", name);
    config.clock_origin_ms = START_MS;
    config
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn member(name: &str) -> Channel {
    Channel::new(Time::ZERO, config(name), rng(1))
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn outputs(channel: &mut Channel) -> Vec<Output> {
    std::iter::from_fn(|| channel.poll()).collect()
}

/// Sends a message at a time, and returns the frame.
fn send(channel: &mut Channel, now: Time, id: &str) -> Vec<u8> {
    let payload = format!("content of {id}").into_bytes();
    channel.handle(
        now,
        Input::Send {
            id: id.into(),
            payload,
        },
    );
    let frames = published(&outputs(channel));
    assert_eq!(frames.len(), 1, "{id} was not sent");
    frames[0].clone()
}

fn receive(channel: &mut Channel, now: Time, frame: &[u8]) -> Vec<Output> {
    let bytes = frame.to_vec();
    channel.handle(
        now,
        Input::Received {
            bytes,
            retrieval_hint: None,
        },
    );
    outputs(channel)
}

fn tick(channel: &mut Channel, now: Time) -> Vec<Output> {
    channel.handle(now, Input::Tick);
    outputs(channel)
}

/// Runs all timers up to a time.
fn run(channel: &mut Channel, until: Time) -> Vec<(Time, Output)> {
    let mut all = Vec::new();
    while let Some(now) = channel.next_timeout().filter(|at| *at <= until) {
        all.extend(tick(channel, now).into_iter().map(|output| (now, output)));
        assert!(
            channel.next_timeout() > Some(now),
            "a timer stands still at {now:?}"
        );
    }
    all
}

fn published(outputs: &[Output]) -> Vec<Vec<u8>> {
    let frames = outputs.iter().filter_map(|output| match output {
        Output::Publish { bytes, .. } => Some(bytes.to_vec()),
        _ => None,
    });
    frames.collect()
}

fn delivered(outputs: &[Output]) -> Vec<&str> {
    let ids = outputs.iter().filter_map(|output| match output {
        Output::Deliver { id, .. } => Some(&**id),
        _ => None,
    });
    ids.collect()
}

fn gaps(outputs: &[Output]) -> Vec<&str> {
    let gaps = outputs.iter().filter_map(|output| match output {
        Output::Deliver { gaps, .. } => Some(gaps),
        _ => None,
    });
    gaps.flatten().map(|id| &**id).collect()
}

fn decode(frame: &[u8]) -> SdsMessage {
    SdsMessage::decode(frame, &SdsLimits::default()).unwrap()
}

fn named(message: &SdsMessage) -> Vec<&str> {
    message
        .causal_history
        .iter()
        .map(|entry| &*entry.message_id)
        .collect()
}

/// Message that no honest member would send, or that is easier to write than to provoke.
fn forged(id: &str, lamport: u64, names: &[&str]) -> SdsMessage {
    SdsMessage {
        sender_id: "mallory".into(),
        message_id: id.into(),
        channel_id: "town".into(),
        lamport_timestamp: Some(lamport),
        causal_history: names
            .iter()
            .map(|name| CausalHistoryEntry::new(*name))
            .collect(),
        bloom_filter: None,
        repair_request: Vec::new(),
        content: Some(b"forged".to_vec()),
    }
}
