//! Pump: the thread that carries packets between devices and the emulated network.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use tun_rs::SyncDevice;
use undertone_link::packet::{Change, Input, Network, NetworkMisuse, Output, Why};

use crate::addresses::AddressPlan;
use crate::error::TestbedError;
use crate::host::MTU_BYTES;

/// Maximum number of packets taken from one device before the other devices have their turn.
const BATCH_PACKETS: usize = 64;

/// Position of the destination address in an IPv4 header (RFC 791).
const DESTINATION: std::ops::Range<usize> = 16..20;

/// Real-time priority, out of 1 to 99: above all threads without one.
const PRIORITY: &str = "10";

const NS_PER_S: u64 = 1_000_000_000;

/// Counts of packets and their lateness since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PumpReport {
    /// Number of packets handed to their receivers.
    pub delivered: u64,
    /// Number of packets lost on a path or by their sender.
    pub lost: u64,
    /// Number of packets dropped because the path was cut.
    pub cut: u64,
    /// Number of packets dropped by a queue: it was full, or CoDel found it too long.
    pub queue_dropped: u64,
    /// Number of packets that were not IPv4 to a host of the testbed.
    pub foreign: u64,
    /// Number of packets that a device refused.
    pub refused: u64,
    /// Sum of the delivered packets' lateness: time from the due time to the delivery.
    pub late_sum_ns: u64,
    /// Largest lateness of a delivered packet.
    pub late_max_ns: u64,
}

impl PumpReport {
    /// Returns the mean lateness of the delivered packets.
    pub fn late_mean_ns(&self) -> u64 {
        self.late_sum_ns / self.delivered.max(1)
    }
}

/// A running pump; it stops when dropped.
#[derive(Debug)]
pub(crate) struct Pump {
    commands: Sender<PumpCommand>,
    /// Event descriptor, written after each order to wake the thread.
    wake: Arc<OwnedFd>,
    report: Arc<Mutex<PumpReport>>,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    pub(crate) fn start(
        network: Network<Vec<u8>>,
        devices: Vec<SyncDevice>,
        plan: AddressPlan,
    ) -> Result<Self, TestbedError> {
        let system = |what| move |source| TestbedError::System { what, source };
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = Arc::new(wake.map_err(io::Error::from).map_err(system("eventfd"))?);
        let (commands, inbox) = mpsc::channel();
        let report = Arc::new(Mutex::new(PumpReport::default()));
        let mut works = Works {
            network,
            devices,
            plan,
            began: Instant::now(),
            free: Vec::new(),
            report: PumpReport::default(),
            inbox,
        };
        let (woken, shared) = (Arc::clone(&wake), Arc::clone(&report));
        let thread = thread::Builder::new().name("pump".to_owned());
        let thread = thread.spawn(move || works.run(&woken, &shared));
        Ok(Self {
            commands,
            wake,
            report,
            thread: Some(thread.map_err(system("cannot start the pump's thread"))?),
        })
    }

    pub(crate) fn report(&self) -> PumpReport {
        *self.report.lock()
    }

    /// Changes the network, and returns after the change took effect.
    pub(crate) fn change(&self, change: Change) -> Result<(), TestbedError> {
        let gone = |()| TestbedError::Gone { what: "the pump" };
        let (reply, done) = mpsc::sync_channel(1);
        self.command(PumpCommand::Change(change, reply))
            .map_err(gone)?;
        let done = done.recv().map_err(|_| gone(()))?;
        Ok(done?)
    }

    /// Sends a command and wakes the thread; returns an error when the thread has ended.
    fn command(&self, command: PumpCommand) -> Result<(), ()> {
        self.commands.send(command).map_err(drop)?;
        // An eventfd refuses a write only when its counter would exceed 64 bits.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        Ok(())
    }
}

/// Command to the pump's thread.
#[derive(Debug)]
enum PumpCommand {
    Change(Change, SyncSender<Result<(), NetworkMisuse>>),
    Stop,
}

impl Drop for Pump {
    fn drop(&mut self) {
        // A thread that has ended needs no command.
        let _ = self.command(PumpCommand::Stop);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct Works {
    network: Network<Vec<u8>>,
    /// Devices by the index of their host.
    devices: Vec<SyncDevice>,
    plan: AddressPlan,
    began: Instant,
    /// Packet buffers that can be reused.
    free: Vec<Vec<u8>>,
    report: PumpReport,
    inbox: Receiver<PumpCommand>,
}

impl Works {
    /// Moves packets until told to stop.
    fn run(&mut self, wake: &OwnedFd, shared: &Mutex<PumpReport>) {
        go_first();
        let mut ready = vec![true; self.devices.len()];
        loop {
            for (index, ready) in ready.iter_mut().enumerate() {
                if *ready {
                    self.take(index);
                }
            }
            self.give();
            *shared.lock() = self.report;
            let mut fds: Vec<_> = self
                .devices
                .iter()
                .map(|device| PollFd::new(device, PollFlags::IN))
                .collect();
            fds.push(PollFd::new(wake, PollFlags::IN));
            match poll(&mut fds, self.timeout().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                // The descriptors are ours and open, so the only cause is a lack of memory.
                Err(_) => return,
            }
            let came = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::IN);
            let is_told = fds.last().is_some_and(came);
            for (ready, fd) in ready.iter_mut().zip(&fds) {
                *ready = came(fd);
            }
            if is_told && !self.obey(wake) {
                return;
            }
        }
    }

    /// Executes all pending commands; returns `false` when the thread must stop.
    fn obey(&mut self, wake: &OwnedFd) -> bool {
        // The event is cleared before the commands are taken, so a later order wakes the thread
        // again. The descriptor is readable, so the read does not block.
        let _ = rustix::io::read(wake, &mut [0; 8]);
        while let Ok(order) = self.inbox.try_recv() {
            match order {
                PumpCommand::Stop => return false,
                PumpCommand::Change(change, reply) => {
                    let now_ns = self.now_ns();
                    let done = self.network.handle(now_ns, Input::Change(change));
                    // The requester may be gone.
                    let _ = reply.send(done);
                }
            }
        }
        true
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the time until the network's next event; `None` waits until a packet arrives.
    fn timeout(&self) -> Option<Timespec> {
        let at_ns = self.network.next_timeout()?;
        let wait_ns = at_ns.saturating_sub(self.now_ns());
        Some(Timespec {
            tv_sec: i64::try_from(wait_ns / NS_PER_S).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(wait_ns % NS_PER_S).unwrap_or(0),
        })
    }

    /// Reads packets that a host has sent, and passes them to the network.
    fn take(&mut self, index: usize) {
        let Ok(from) = u32::try_from(index) else {
            return;
        };
        for _ in 0..BATCH_PACKETS {
            let mut packet = self.free.pop().unwrap_or_default();
            packet.resize(usize::from(MTU_BYTES), 0);
            let Ok(len) = rustix::io::read(self.devices[index].as_fd(), &mut packet[..]) else {
                self.free.push(packet);
                return;
            };
            packet.truncate(len);
            let to = destination(&packet).and_then(|to| self.plan.index_of(to));
            let to = to.filter(|to| (*to as usize) < self.devices.len());
            let Some(to) = to else {
                self.report.foreign += 1;
                continue;
            };
            let len_bytes = u32::try_from(len).unwrap_or(u32::MAX);
            let now_ns = self.now_ns();
            let input = Input::Packet {
                from,
                to,
                len_bytes,
                packet,
            };
            let taken = self.network.handle(now_ns, input);
            taken.expect("a monotonic clock, and both hosts have a device");
        }
    }

    /// Delivers the packets that are due, and counts the dropped ones.
    fn give(&mut self) {
        let ticked = self.network.handle(self.now_ns(), Input::Tick);
        ticked.expect("a monotonic clock");
        while let Some(output) = self.network.poll() {
            let packet = match output {
                Output::Deliver { to, at_ns, packet } => {
                    self.deliver(to, at_ns, &packet);
                    packet
                }
                Output::Dropped(dropped) => {
                    match dropped.why {
                        Why::Lost => self.report.lost += 1,
                        Why::Cut => self.report.cut += 1,
                        Why::Full(_) | Why::Late(_) => self.report.queue_dropped += 1,
                    }
                    dropped.packet
                }
            };
            self.free.push(packet);
        }
    }

    fn deliver(&mut self, to: u32, at_ns: u64, packet: &[u8]) {
        if rustix::io::write(self.devices[to as usize].as_fd(), packet).is_err() {
            self.report.refused += 1;
            return;
        }
        let late_ns = self.now_ns().saturating_sub(at_ns);
        self.report.delivered += 1;
        self.report.late_sum_ns += late_ns;
        self.report.late_max_ns = self.report.late_max_ns.max(late_ns);
    }
}

/// Gives the calling thread a real-time priority, as `chrt --rr` does: a late delivery would vary
/// the network. Without the right to do so, as in a user namespace, nothing changes; [`PumpReport`]
/// says how late packets were.
fn go_first() {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let mut chrt = Command::new("chrt");
    chrt.args(["--rr", "--pid", PRIORITY, &thread]);
    let _ = chrt.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Returns the address to which an IPv4 packet goes.
fn destination(packet: &[u8]) -> Option<Ipv4Addr> {
    let version = packet.first()? >> 4;
    let octets: [u8; 4] = packet.get(DESTINATION)?.try_into().ok()?;
    (version == 4).then_some(octets.into())
}
