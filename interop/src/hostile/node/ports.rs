use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hostile::HostileError;

/// Below what systems hand out by themselves (from 32768 on Linux). libp2p dials from the port that it
/// listens on, on every address of the machine, and gives up if another program listens on that port on
/// any of them.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// Ports that were looked at so far.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// A port that nobody uses on any address, and that this process gives out once.
pub(super) fn free() -> Result<u16, HostileError> {
    // Processes that run at a time begin at places of their own.
    let begin = process::id().wrapping_mul(977);
    for _ in 0..COUNT {
        let next = LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + begin.wrapping_add(next) % COUNT;
        let port = u16::try_from(port).expect("the last port is below 65536");
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return Ok(port);
        }
    }
    let none = io::ErrorKind::AddrInUse.into();
    Err(HostileError::io("no port is free for a node")(none))
}
