use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// First port that is tried; the range is below the ephemeral ports (from 32768 on Linux). libp2p dials
/// from the port that it listens on, on every address of the machine, and fails if another program
/// listens on that port on any of them.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// Number of ports tried so far.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// Returns a port that is free on all addresses; this process never returns the same port twice.
///
/// # Errors
///
/// `AddrInUse` if no port of the range is free.
pub fn free_port() -> io::Result<u16> {
    // Concurrent processes start at different ports.
    let begin = process::id().wrapping_mul(977);
    for _ in 0..COUNT {
        let next = LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + begin.wrapping_add(next) % COUNT;
        let port = u16::try_from(port).expect("the last port is below 65536");
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}
