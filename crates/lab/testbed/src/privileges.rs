//! Check whether this process may create namespaces and TUN devices, and what to do if not.

use std::fs::OpenOptions;
use std::io;
use std::process::{Command, Stdio};
use std::thread;

use nix::sched::{CloneFlags, unshare};
use thiserror::Error;

const TUN: &str = "/dev/net/tun";

/// Reason why no testbed can run on this machine.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The device through which TUN interfaces are created cannot be opened.
    #[error("{TUN} cannot be opened ({0}): load the module `tun` and allow reading and writing it")]
    TunDevice(io::Error),
    /// The process has no right to create a network namespace.
    #[error(
        "no network namespace can be made ({0}): run as root, or under \
         `unshare --user --map-root-user`"
    )]
    Namespace(io::Error),
    /// The tool `ip`, which brings interfaces up, cannot be run.
    #[error("`ip` cannot be run ({0}): install iproute2")]
    Ip(io::Error),
}

/// Tries the operations that a testbed needs, on a temporary thread.
///
/// # Errors
///
/// [`Unavailable`]: the first requirement that is missing, and how to get it.
pub fn can_run() -> Result<(), Unavailable> {
    let tried = thread::scope(|scope| {
        let namespace = scope.spawn(|| unshare(CloneFlags::CLONE_NEWNET));
        namespace.join().unwrap_or(Err(nix::Error::UnknownErrno))
    });
    tried.map_err(|errno| Unavailable::Namespace(errno.into()))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.open(TUN).map_err(Unavailable::TunDevice)?;
    let mut ip = Command::new("ip");
    ip.arg("-Version").stdout(Stdio::null());
    ip.status().map_err(Unavailable::Ip)?;
    Ok(())
}
