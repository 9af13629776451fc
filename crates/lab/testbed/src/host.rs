//! One network namespace with one TUN device.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{self, Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::addresses::{AddressPlan, PREFIX_BITS};
use crate::error::TestbedError;

/// Name of each namespace's TUN device, the only way to the other hosts.
pub const DEVICE: &str = "tun0";

/// MTU of the devices in bytes, as on Ethernet.
pub(crate) const MTU_BYTES: u16 = 1500;

/// Setting that disables IPv6; absent from kernels without IPv6.
const DISABLE_IPV6: &str = "/proc/sys/net/ipv6/conf/default/disable_ipv6";

/// Congestion control of a host's connections. The kernel must support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Congestion {
    /// CUBIC, the default of Linux.
    Cubic,
    /// Reno, as of RFC 5681.
    Reno,
    /// BBR, with the pacing it needs.
    Bbr,
}

impl Congestion {
    /// All supported congestion controls.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Reno, Self::Bbr];

    /// Returns the kernel's name of the congestion control.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
            Self::Bbr => "bbr",
        }
    }
}

/// TCP settings of a namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp {
    /// Congestion control; `None` keeps the kernel's default for a new namespace.
    pub(crate) congestion: Option<Congestion>,
    pub(crate) slow_start_after_idle: bool,
}

/// Shell script that executes the given program if the process that launched it is still its parent. Otherwise, that
/// process ended before the death signal was set.
const STILL_WANTED: &str = r#"[ "$PPID" = "$0" ] && exec "$@""#;

/// Process descriptors of programs to kill when the host ends.
type Launched = Vec<OwnedFd>;

type NamespaceJob = Box<dyn FnOnce(&mut Launched) + Send>;

/// A host: one network namespace. Threads started by [`Host::spawn`] and programs started by [`Host::launch`] live in
/// it. It ends with the last of them and this value.
#[derive(Debug)]
pub struct Host {
    index: u32,
    plan: AddressPlan,
    /// Sends jobs to the thread that holds the namespace.
    jobs: Sender<NamespaceJob>,
}

impl Host {
    /// Creates the namespace and its device. The device is for the pump.
    pub(crate) fn start(
        index: u32,
        plan: AddressPlan,
        tcp: Tcp,
    ) -> Result<(Self, SyncDevice), TestbedError> {
        let (jobs, inbox) = mpsc::channel::<NamespaceJob>();
        let (ready, started) = mpsc::sync_channel(1);
        let hold = move || {
            // The receiver waits below, so the message reaches it.
            let device = enter(index, plan.first(index), tcp);
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
        Ok((Self { index, plan, jobs }, device))
    }

    /// Returns the host's index in the network.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the IPv4 address that the host has at first.
    pub fn address(&self) -> Ipv4Addr {
        self.plan.first(self.index)
    }

    /// Replaces the host's address `old` by another one of its addresses, and returns that. Connections of the old
    /// address die silently, as when a provider assigns a new address. Choice 0 is the first address.
    ///
    /// # Errors
    ///
    /// [`TestbedError::Address`] when the host has fewer addresses, or `ip` fails; [`TestbedError::Gone`] when the
    /// host's thread has ended.
    pub fn readdress(&self, old: Ipv4Addr, choice: u32) -> Result<Ipv4Addr, TestbedError> {
        let host = self.index;
        let failed = |source| TestbedError::Address { host, source };
        let new = self.plan.choice(host, choice);
        let new = new.ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let changing = self.spawn(move || {
            // The old address is deleted first: the new one, if added before as a secondary address, would be deleted
            // with it.
            for (act, address) in [("del", old), ("add", new)] {
                let address = format!("{address}/{PREFIX_BITS}");
                let mut ip = Command::new("ip");
                let status = ip.args(["addr", act, &address, "dev", DEVICE]).status()?;
                if !status.success() {
                    return Err(io::Error::other(format!("`ip addr {act}`: {status}")));
                }
            }
            Ok(())
        })?;
        let what = "a change of address";
        let changed = changing.join().map_err(|_| TestbedError::Gone { what })?;
        changed.map_err(failed)?;
        Ok(new)
    }

    /// Runs `job` on a new thread inside the namespace: its sockets belong to this host, and so do
    /// the processes it starts.
    ///
    /// # Errors
    ///
    /// [`TestbedError::System`] when no thread can be started; [`TestbedError::Gone`] when the
    /// host's thread has ended.
    pub fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, TestbedError> {
        let what = "cannot start a thread in a host";
        self.on_holder(what, move |_| thread::Builder::new().spawn(job))
    }

    /// Starts a program inside the namespace. The program is killed when this host is dropped and
    /// when this process ends, for any reason. Its output goes to `output`; without that, to the
    /// output of this process.
    ///
    /// # Errors
    ///
    /// [`TestbedError::System`] when `setpriv`, a part of util-linux, cannot be run;
    /// [`TestbedError::Gone`] when the host's thread has ended. A program that is not found exits
    /// with 127, as in a shell.
    pub fn launch(&self, program: &Command, output: Option<&File>) -> Result<Child, TestbedError> {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", "sh", "-c", STILL_WANTED]);
        command.arg(process::id().to_string());
        command.arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = program.get_current_dir() {
            command.current_dir(folder);
        }
        let what = "cannot run `setpriv` (util-linux) in a host";
        let failed = |source| TestbedError::System { what, source };
        if let Some(output) = output {
            command.stdin(Stdio::null());
            command.stdout(output.try_clone().map_err(failed)?);
            command.stderr(output.try_clone().map_err(failed)?);
        }
        self.on_holder(what, move |launched| {
            let child = command.spawn()?;
            // A child that was not waited for keeps its process id, so the id is that of the
            // child just started.
            let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let id = id.ok_or(io::ErrorKind::InvalidData)?;
            launched.push(pidfd_open(id, PidfdFlags::empty())?);
            Ok(child)
        })
    }

    /// Runs a job on the thread that holds the namespace.
    fn on_holder<T: Send + 'static>(
        &self,
        what: &'static str,
        job: impl FnOnce(&mut Launched) -> io::Result<T> + Send + 'static,
    ) -> Result<T, TestbedError> {
        let (reply, done) = mpsc::sync_channel(1);
        let job: NamespaceJob = Box::new(move |launched| {
            // This fails only when the caller is gone; then nobody needs the result.
            let _ = reply.send(job(launched));
        });
        let gone = || TestbedError::Gone { what: "a host" };
        self.jobs.send(job).map_err(|_| gone())?;
        let done = done.recv().map_err(|_| gone())?;
        done.map_err(|source| TestbedError::System { what, source })
    }
}

fn serve(inbox: &Receiver<NamespaceJob>) {
    let mut launched = Launched::new();
    while let Ok(job) = inbox.recv() {
        job(&mut launched);
    }
    for program in &launched {
        // This fails for programs that have ended.
        let _ = pidfd_send_signal(program, Signal::KILL);
    }
}

/// Moves the calling thread into a new namespace and configures it.
fn enter(index: u32, address: Ipv4Addr, tcp: Tcp) -> Result<SyncDevice, TestbedError> {
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
    // IPv6 is disabled before the device exists, so that it never sends a router solicitation.
    if fs::exists(DISABLE_IPV6).unwrap_or(true) {
        set(DISABLE_IPV6, "1")?;
    }
    let idle = if tcp.slow_start_after_idle { "1" } else { "0" };
    set("/proc/sys/net/ipv4/tcp_slow_start_after_idle", idle)?;
    if let Some(congestion) = tcp.congestion {
        set(
            "/proc/sys/net/ipv4/tcp_congestion_control",
            congestion.name(),
        )?;
    }
    ip(host, "link set lo up")?;
    let device = tun(address).map_err(|source| TestbedError::Tun { host, source })?;
    // 10,000 packets of 1500 bytes, so that packets are dropped only by the emulated network, and
    // not while the pump is busy. (The ioctl for this setting is not allowed in user namespaces.)
    ip(host, "link set tun0 txqueuelen 10000")?;
    Ok(device)
}

/// Runs `ip` in the namespace of this thread.
fn ip(host: u32, arguments: &'static str) -> Result<(), TestbedError> {
    let failed = |source| TestbedError::Ip {
        host,
        arguments,
        source,
    };
    let status = Command::new("ip").args(arguments.split(' ')).status();
    match status.map_err(failed)? {
        status if status.success() => Ok(()),
        status => Err(failed(io::Error::other(status.to_string()))),
    }
}

/// Creates the TUN device, without offloads: the kernel segments data before it hands packets over.
fn tun(address: Ipv4Addr) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new()
        .name(DEVICE)
        .ipv4(address, PREFIX_BITS, None)
        .mtu(MTU_BYTES)
        .build_sync()?;
    let flags = fcntl_getfl(device.as_fd())?;
    fcntl_setfl(device.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(device)
}
