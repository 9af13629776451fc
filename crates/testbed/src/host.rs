//! One network namespace with one TUN device.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::error::TestbedError;

/// Hosts are numbered in the lower 24 bits of 10.0.0.0/8, from 1.
pub(crate) const MAX_HOSTS: u32 = (1 << 24) - 2;

/// Bytes of an IP packet, as on Ethernet.
pub(crate) const MTU_BYTES: u16 = 1500;

/// Packets that the kernel keeps while the pump is busy: 15 MB, so that what is dropped is dropped
/// by the emulated network.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// Which congestion control a host's connections use. The kernel must have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Congestion {
    /// Linux's default.
    Cubic,
    /// RFC 5681.
    Reno,
    /// BBR, with the pacing it needs.
    Bbr,
}

impl Congestion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Reno, Self::Bbr];

    /// The kernel's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
            Self::Bbr => "bbr",
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace. Threads and processes started by [`Host::spawn`] live in it; it ends with
/// the last of them and this value.
#[derive(Debug)]
pub struct Host {
    index: u32,
    /// Wakes the thread that holds the namespace.
    jobs: Sender<Job>,
}

impl Host {
    /// Makes the namespace and its device. The device is for the pump.
    pub(crate) fn start(
        index: u32,
        congestion: Option<Congestion>,
    ) -> Result<(Self, SyncDevice), TestbedError> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (ready, started) = mpsc::sync_channel(1);
        let hold = move || {
            // The receiver waits below, so this reaches it.
            let device = enter(index, congestion);
            let entered = device.is_ok();
            if ready.send(device).is_ok() && entered {
                serve(&inbox);
            }
        };
        let thread = thread::Builder::new().name(format!("host-{index}"));
        let what = "cannot start a host's thread";
        thread
            .spawn(hold)
            .map_err(|source| TestbedError::System { what, source })?;
        let device = started
            .recv()
            .map_err(|_| TestbedError::Gone { what: "a host" })??;
        Ok((Self { index, jobs }, device))
    }

    /// The host's index in the network.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The host's address.
    pub fn address(&self) -> Ipv4Addr {
        address(self.index)
    }

    /// Runs `job` on a new thread inside the namespace: its sockets belong to this host, and so do
    /// the processes it starts.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, TestbedError> {
        let (reply, handle) = mpsc::sync_channel(1);
        let start: Job = Box::new(move || {
            // Nobody listens when the caller is gone; the job then runs unwatched.
            drop(reply.send(thread::Builder::new().spawn(job)));
        });
        let gone = TestbedError::Gone { what: "a host" };
        let Ok(()) = self.jobs.send(start) else {
            return Err(gone);
        };
        let handle = handle.recv().map_err(|_| gone)?;
        let what = "cannot start a thread in a host";
        handle.map_err(|source| TestbedError::System { what, source })
    }
}

/// The address of a host.
pub(crate) fn address(index: u32) -> Ipv4Addr {
    let network = u32::from(Ipv4Addr::new(10, 0, 0, 0));
    Ipv4Addr::from(network + index + 1)
}

/// The host to which an address belongs, if it is one of ours.
pub(crate) fn index_of(address: Ipv4Addr) -> Option<u32> {
    let [first, ..] = address.octets();
    let number = u32::from(address) & 0x00ff_ffff;
    (first == 10).then_some(number)?.checked_sub(1)
}

fn serve(inbox: &Receiver<Job>) {
    while let Ok(job) = inbox.recv() {
        job();
    }
}

/// Moves the calling thread into a namespace of its own.
fn enter(index: u32, congestion: Option<Congestion>) -> Result<SyncDevice, TestbedError> {
    let host = index;
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| TestbedError::Unshare {
        host,
        source: errno.into(),
    })?;
    let set = |path, value: &str| {
        let value = value.to_owned();
        fs::write(path, &value).map_err(|source| TestbedError::Sysctl {
            host,
            path,
            value,
            source,
        })
    };
    // Before the device exists, so that it never sends a router solicitation.
    set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
    if let Some(congestion) = congestion {
        set(
            "/proc/sys/net/ipv4/tcp_congestion_control",
            congestion.name(),
        )?;
    }
    let command = "ip link set lo up";
    let status = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status();
    let failed = |source| TestbedError::Ip {
        host,
        command,
        source,
    };
    if !status.map_err(failed)?.success() {
        return Err(failed(io::Error::other("it reported an error")));
    }
    tun(index).map_err(|source| TestbedError::Tun { host, source })
}

/// Without offloads: the kernel cuts segments before it hands them over.
fn tun(index: u32) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new()
        .name("tun0")
        .ipv4(address(index), 8, None)
        .mtu(MTU_BYTES)
        .tx_queue_len(DEVICE_QUEUE_PACKETS)
        .build_sync()?;
    let flags = fcntl_getfl(device.as_fd())?;
    fcntl_setfl(device.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(device)
}
