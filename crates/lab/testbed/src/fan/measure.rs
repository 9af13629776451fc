//! Measurement of a case on this machine's kernel.

use std::io;
use std::net::SocketAddrV4;
use std::process::Command;
use std::sync::mpsc;
use std::thread::JoinHandle;

use thiserror::Error;
use undertone_link::packet::{HostConfig, LinkConfig, Path, Paths};

use super::{FanCase, FanTimes, listen, receive, send};
use crate::host::DEVICE;
use crate::{AddressPlan, Congestion, PumpReport, Testbed, TestbedConfig, TestbedError};

const PORT: u16 = 4000;

/// Congestion control of the connections.
const CONGESTION: Congestion = Congestion::Cubic;

/// Depth of the token bucket, bytes: ten packets, like the batches that a driver passes to a device.
const BUCKET_BYTES: u32 = 15_140;

/// Queue before the token bucket, bytes: never full, as each socket has little in it (TCP small queues).
const QUEUE_BYTES: u32 = 100_000_000;

/// Reason why a case could not be measured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FanError {
    /// The network could not be set up.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A socket of one of the two roles failed.
    #[error("the {role}: {source}")]
    Socket {
        /// Role whose socket failed.
        role: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The uplink's rate could not be set.
    #[error(
        "`tc` could not limit the uplink: {0}; it needs iproute2 and a kernel with the queueing discipline tbf"
    )]
    Rate(String),
}

/// Measures a case on its own network. The uplink's rate is enforced at the sender's device, so that packets wait in
/// the sender's kernel and its sockets notice.
///
/// # Errors
/// [`FanError`]
pub fn measure(case: &FanCase) -> Result<(FanTimes, PumpReport), FanError> {
    let testbed = Testbed::start(&TestbedConfig {
        addresses: AddressPlan::Private,
        hosts: vec![HostConfig::symmetric(LinkConfig::UNLIMITED); 2],
        paths: Paths::uniform(Path::constant(case.one_way_ms.saturating_mul(1_000_000))),
        congestion: None,
        slow_start_after_idle: true,
        seed: [0; 32],
    })?;
    let [sender, receiver] = testbed.hosts() else {
        return Err(TestbedError::Gone { what: "a host" }.into());
    };
    let (case, address) = (*case, SocketAddrV4::new(receiver.address(), PORT));
    let (bound, listening) = mpsc::sync_channel(1);
    let receiving = receiver.spawn(move || {
        let listener = listen(address, &case, Some(CONGESTION))?;
        // When nobody waits any more, the sender has failed and reports why.
        let _ = bound.send(());
        receive(&listener, &case)
    })?;
    if listening.recv().is_err() {
        join(receiving, "receiver")?;
        return Err(TestbedError::Gone { what: "a receiver" }.into());
    }
    let sending = sender.spawn(move || {
        limit(case.mbit_per_s)?;
        let sent = send(address, &case, Some(CONGESTION));
        let role = "sender";
        sent.map_err(|source| FanError::Socket { role, source })
    })?;
    let sent = sending.join();
    let times = sent.map_err(|_| TestbedError::Gone { what: "a sender" })??;
    join(receiving, "receiver")?;
    Ok((times, testbed.report()))
}

fn join(thread: JoinHandle<io::Result<()>>, role: &'static str) -> Result<(), FanError> {
    let ended = thread.join();
    let ended = ended.map_err(|_| TestbedError::Gone { what: role })?;
    ended.map_err(|source| FanError::Socket { role, source })
}

/// Limits the rate of this namespace's device.
fn limit(mbit_per_s: u64) -> Result<(), FanError> {
    let mut command = Command::new("tc");
    command.args(["qdisc", "replace", "dev", DEVICE, "root", "tbf"]);
    command.args(["rate", &format!("{mbit_per_s}mbit")]);
    command.args(["burst", &BUCKET_BYTES.to_string()]);
    command.args(["limit", &QUEUE_BYTES.to_string()]);
    let output = command.output();
    let output = output.map_err(|error| FanError::Rate(error.to_string()))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let reason = String::from_utf8_lossy(&output.stderr);
            Err(FanError::Rate(reason.trim().to_owned()))
        }
    }
}
