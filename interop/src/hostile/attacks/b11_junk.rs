//! Number 11: frames that say nothing and cost the time to find that out.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;

use super::{Attack, Price, nothing};
use crate::hostile::node::Target;
use crate::hostile::peer::Peer;
use crate::hostile::{HostileError, Stage, StageOptions, Tasks, rpc};

/// Peers that send unknown fields, and as many that send empty frames.
const ATTACKERS: u8 = 2;
/// Bytes of a frame of unknown fields.
const FRAME_BYTES: usize = 180_000;
/// Frames of unknown fields that are sent together, and how often: 14.4 MB/s each.
const FRAMES: usize = 4;
/// Empty frames that are sent together.
const EMPTY_FRAMES: usize = 100_000;
const INTERVAL: Duration = Duration::from_millis(50);
/// Writes of each peer at most: ten minutes.
const WRITES_MAX: u32 = 12_000;
/// How long the attack goes on before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "b11-junk",
    about: "frames of 180 kB of unknown fields and empty frames at full rate, new identities all the time",
    price: Price::Addresses(2 * ATTACKERS as u32),
    options: StageOptions::default,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut Stage) -> Result<Tasks, HostileError> {
    let unknown: Vec<u8> = unknown_fields().repeat(FRAMES);
    let empty = vec![0; EMPTY_FRAMES];
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        for (kind, bytes) in [&unknown, &empty].into_iter().enumerate() {
            let from = Ipv4Addr::new(127, 0, 14, 1 + 2 * n + u8::from(kind == 1));
            tasks.spawn(send(from, stage.victim.target(), bytes.clone()));
        }
    }
    tokio::time::sleep(RISING).await;
    Ok(tasks)
}

/// A frame of nothing but unknown fields of two bytes each.
#[must_use]
pub fn unknown_fields() -> Vec<u8> {
    // Field 15, a number.
    rpc::framed(&[0x78, 0x00].repeat(FRAME_BYTES / 2))
}

async fn send(from: Ipv4Addr, target: Target, bytes: Vec<u8>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut peer: Option<Peer> = None;
    for _ in 0..WRITES_MAX {
        ticks.tick().await;
        if peer.is_none() {
            peer = Peer::connect(from, target).await.ok();
        }
        if let Some(connected) = &mut peer
            && !connected.send(&bytes).await
        {
            peer = None;
        }
    }
}
