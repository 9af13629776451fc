//! Measurement of one connection between two hosts.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;
use undertone_link::packet::{HostConfig, LinkConfig, Path, Paths, Rate};

use super::{Moment, socket};
use crate::{AddressPlan, Congestion, PumpReport, Testbed, TestbedConfig, TestbedError};

const PORT: u16 = 4000;

/// Timeout of one message, longer than any takes; a stalled network is reported after it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Capacity of each queue in bytes: more than one connection has in flight, so nothing is dropped.
pub(super) const QUEUE_MAX_BYTES: u64 = 8_000_000;

const READ_BYTES: usize = 64 * 1024;

/// Parameters of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Length of each message, in bytes.
    pub size_bytes: usize,
    /// One-way delay of the path in milliseconds, without queues and links.
    pub one_way_ms: u64,
    /// Rate of each uplink and downlink.
    pub rate: Rate,
    /// Congestion control of both sockets.
    pub congestion: Congestion,
    /// Pause before the third message.
    pub idle: Duration,
    /// Size of the sender's socket buffer in bytes; `None` lets the kernel tune it.
    pub send_buffer_bytes: Option<usize>,
    /// Whether to record the state of the sender's socket by `ss` after each message.
    pub sockets: bool,
}

/// Result of one measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Time from the write to the last byte read, in the order of [`Moment::ALL`].
    pub took: [Duration; 3],
    /// Counts of the packets and their lateness.
    pub packets: PumpReport,
    /// Output of `ss` after each message, if requested.
    pub sockets: Vec<String>,
}

/// Error of a measurement that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The network could not be set up.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// An operation on a socket, or `ss`, failed.
    #[error("{what}: {source}")]
    Socket {
        /// Description of the failed operation.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A message was not read in time.
    #[error("a {moment} message of {size_bytes} bytes was not read within {PATIENCE:?}")]
    Stuck {
        /// Name of the message's [`Moment`].
        moment: &'static str,
        /// Length of the message, in bytes.
        size_bytes: usize,
    },
    /// A measuring thread ended by a panic.
    #[error("the {0} ended by a panic")]
    Panicked(&'static str),
}

/// Measures one case on its own network.
///
/// # Errors
///
/// [`KernelError`], when the network cannot be set up, a socket fails, or a message is not
/// read in time.
pub fn measure(case: &Case) -> Result<Measured, KernelError> {
    let link = LinkConfig::wire(case.rate, QUEUE_MAX_BYTES);
    let testbed = Testbed::start(&TestbedConfig {
        hosts: vec![HostConfig::symmetric(link); 2],
        paths: Paths::uniform(Path::constant(case.one_way_ms.saturating_mul(1_000_000))),
        addresses: AddressPlan::Private,
        congestion: None,
        slow_start_after_idle: true,
        seed: [0; 32],
    })?;
    let [sender, receiver] = testbed.hosts() else {
        return Err(TestbedError::Gone { what: "a host" }.into());
    };
    let (case, address) = (*case, SocketAddrV4::new(receiver.address(), PORT));
    let (bound, listening) = mpsc::sync_channel(1);
    let (read, done) = mpsc::sync_channel(1);
    let receiving = receiver.spawn(move || receive(address, &case, &bound, &read))?;
    if listening.recv().is_err() {
        // Only an error ends the receiver before it has reported that it listens.
        join(receiving, "receiver")??;
        return Err(KernelError::Panicked("receiver"));
    }
    let sending = sender.spawn(move || send(address, &case, &done))?;
    let (took, sockets) = join(sending, "sender")??;
    join(receiving, "receiver")??;
    Ok(Measured {
        took,
        packets: testbed.report(),
        sockets,
    })
}

fn join<T>(thread: JoinHandle<T>, name: &'static str) -> Result<T, KernelError> {
    thread.join().map_err(|_| KernelError::Panicked(name))
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> KernelError {
    move |source| KernelError::Socket { what, source }
}

/// Signals when the receiver listens, then when each message has been read.
fn receive(
    address: SocketAddrV4,
    case: &Case,
    bound: &SyncSender<()>,
    read: &SyncSender<Instant>,
) -> Result<(), KernelError> {
    let listener =
        socket::listening(address, Some(case.congestion), 1).map_err(failed("cannot listen"))?;
    // For both channels: when nobody waits any more, the sender has failed and reports why.
    let _ = bound.send(());
    let (mut stream, _) = listener.accept().map_err(failed("cannot accept"))?;
    stream
        .set_read_timeout(Some(PATIENCE))
        .map_err(failed("cannot set a timeout"))?;
    let mut buffer = vec![0; READ_BYTES];
    for _ in Moment::ALL {
        let mut left_bytes = case.size_bytes;
        while left_bytes > 0 {
            let part = &mut buffer[..left_bytes.min(READ_BYTES)];
            match stream.read(part).map_err(failed("cannot read"))? {
                0 => return Ok(()),
                len_bytes => left_bytes -= len_bytes,
            }
        }
        let _ = read.send(Instant::now());
    }
    Ok(())
}

fn send(
    address: SocketAddrV4,
    case: &Case,
    done: &Receiver<Instant>,
) -> Result<([Duration; 3], Vec<String>), KernelError> {
    let stream = socket::connected(address, Some(case.congestion), case.send_buffer_bytes);
    let mut stream = stream.map_err(failed("cannot connect"))?;
    stream
        .set_nodelay(true)
        .map_err(failed("cannot set TCP_NODELAY"))?;
    let message = vec![0; case.size_bytes];
    let mut took = [Duration::ZERO; 3];
    let mut sockets = Vec::new();
    for (moment, took) in Moment::ALL.into_iter().zip(&mut took) {
        thread::sleep(pause(moment, case));
        let began = Instant::now();
        stream.write_all(&message).map_err(failed("cannot write"))?;
        let (moment, size_bytes) = (moment.name(), case.size_bytes);
        let stuck = |_| KernelError::Stuck { moment, size_bytes };
        let read = done.recv_timeout(PATIENCE).map_err(stuck)?;
        *took = read.duration_since(began);
        if case.sockets {
            sockets.push(state()?);
        }
    }
    Ok((took, sockets))
}

/// Returns the pause before a message. Before a warm one it is the one-way delay of the last
/// acknowledgement plus 60 ms: less than the timeout after which Linux considers a connection idle,
/// which is the round trip time and 200 ms.
pub(super) fn pause(moment: Moment, case: &Case) -> Duration {
    match moment {
        Moment::Cold => Duration::ZERO,
        Moment::Warm => Duration::from_millis(case.one_way_ms + 60),
        Moment::Idle => case.idle,
    }
}

fn state() -> Result<String, KernelError> {
    let output = Command::new("ss")
        .args(["-tinOH", "state", "established"])
        .output();
    let output = output.map_err(failed("cannot run `ss`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
