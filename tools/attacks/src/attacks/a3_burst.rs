//! Attack 3: a peer that behaves like nwaku after a burst of large messages.
//!
//! The peer resets its stream and announces ids of large messages. It answers an IWANT for several ids
//! without the messages above 138,240 bytes, but answers an IWANT for a single id in full. Afterwards the
//! peer must still be in the mesh and get every message.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use undertone_gossip::wire::{Rpc, decode};
use undertone_gossip::{Limits, MessageId, Topic};
use undertone_message::WakuMessage;

use super::{Attack, Price, nothing};
use crate::peer::{Frames, Peer};
use crate::proxy::Proxy;
use crate::raw::RawPeer;
use crate::test_network::prefix;
use crate::traffic::PeerLog;
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 5, 1);
/// Number of messages lost in each burst.
const LOST: u64 = 6;
/// Payload size of each message, bytes.
const MESSAGE_BYTES: usize = 146_000;
/// Longest message that an answer for several ids contains, bytes.
const ANSWER_BYTES_MAX: usize = 138_240;
/// Number of bursts, one after the other.
const BURSTS: u64 = 3;
/// Time for each burst: an IWANT promise is broken after 3 s, which is noticed at a heartbeat.
const BURST_TIME: Duration = Duration::from_secs(5);

/// Attack a3: bursts of large messages.
pub const ATTACK: Attack = Attack {
    name: "a3-burst",
    about: "a peer loses 3 x 6 messages of 146 kB, announces them, answers as nwaku does; counts as a receiver",
    price: Price::Nothing,
    options: StageOptions::default,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let topics = stage.topics();
    let mut peer = Peer::connect(ADDRESS, stage.victim.target()).await?;
    peer.join(&topics).await;
    let id = peer.id();
    let (raw, frames, proxy) = peer.into_parts();
    stage.are_in_meshes(&stage.victim, &[id], BURST_TIME).await;
    let log = PeerLog::default();
    stage.others.push(log.clone());
    let mut like = LikeNwaku {
        raw,
        topic: topics[0].clone(),
        large: BTreeMap::new(),
        log,
        _proxy: proxy,
    };
    let mut tasks = Tasks::default();
    tasks.spawn(async move { like.run(frames).await });
    tokio::time::sleep(BURST_TIME * u32::try_from(BURSTS).unwrap_or(u32::MAX)).await;
    Ok(tasks)
}

struct LikeNwaku {
    raw: RawPeer,
    topic: Topic,
    large: BTreeMap<MessageId, Vec<u8>>,
    log: PeerLog,
    _proxy: Proxy,
}

impl LikeNwaku {
    async fn run(&mut self, mut frames: Frames) {
        let mut bursts = tokio::time::interval(BURST_TIME);
        let mut burst = 0;
        loop {
            tokio::select! {
                _ = bursts.tick(), if burst < BURSTS => {
                    if self.lose(burst).await.is_err() {
                        return;
                    }
                    burst += 1;
                }
                frame = frames.recv() => {
                    let Some(frame) = frame else { return };
                    if let Ok(rpc) = decode(&frame, &Limits::default()) {
                        self.take(&rpc).await;
                    }
                }
            }
        }
    }

    /// Simulates a lost burst: resets the stream and announces the ids on the next one.
    async fn lose(&mut self, burst: u64) -> Result<(), crate::raw::RawError> {
        for n in 0..LOST {
            let number = burst * LOST + n;
            let mut payload = vec![0; MESSAGE_BYTES];
            payload[..8].copy_from_slice(&number.to_be_bytes());
            let topic = format!("{}/large-{number}/proto", prefix(0));
            let data = WakuMessage::new(payload, topic).encode();
            self.large.insert(MessageId::of(&data), data);
        }
        self.raw.reset().await?;
        let ids: Vec<_> = self.large.keys().copied().collect();
        let subscribe_again = rpc::control(|rpc| {
            rpc.subscription(true, &self.topic);
            rpc.ihave(&self.topic, &ids);
        });
        self.raw.send(&subscribe_again).await
    }

    async fn take(&mut self, rpc: &Rpc) {
        for message in &rpc.messages {
            self.log.note(&message.data);
        }
        let asked: Vec<_> = rpc.iwant.iter().collect();
        let is_single = asked.len() == 1;
        for id in asked {
            let Some(data) = self.large.get(id) else {
                continue;
            };
            if is_single || data.len() <= ANSWER_BYTES_MAX {
                let frame = rpc::message(&self.topic, data);
                if self.raw.send(&frame).await.is_err() {
                    return;
                }
            }
        }
    }
}
