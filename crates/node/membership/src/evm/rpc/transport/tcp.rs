//! TCP connection to an endpoint with one deadline for all steps.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[cfg(test)]
#[path = "tests/tcp.rs"]
mod tests;

/// Maximum number of a host's addresses that are tried.
const MAX_ADDRESSES: usize = 16;

/// TCP stream whose reads and writes fail with [`ErrorKind::TimedOut`] after a deadline.
#[derive(Debug)]
pub(super) struct TimedTcp {
    tcp: TcpStream,
    pub(super) deadline: Instant,
}

impl TimedTcp {
    pub(super) fn new(tcp: TcpStream, deadline: Instant) -> Self {
        Self { tcp, deadline }
    }
}

impl Read for TimedTcp {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        self.tcp.set_read_timeout(Some(left(self.deadline)?))?;
        self.tcp.read(buffer).map_err(timed)
    }
}

impl Write for TimedTcp {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.tcp.set_write_timeout(Some(left(self.deadline)?))?;
        self.tcp.write(bytes).map_err(timed)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.tcp.flush()
    }
}

/// Looks up the addresses of `HOST:PORT` or `HOST`, in the order of the system's resolver.
pub(super) fn resolve(
    host: &str,
    default_port: u16,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, Error> {
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let name = match has_port {
        true => host.to_owned(),
        false => format!("{host}:{default_port}"),
    };
    let (answer, found) = mpsc::channel();
    // The system's resolver has no timeout; the thread ends when it returns.
    std::thread::Builder::new()
        .name("resolve".into())
        .spawn(move || {
            let addresses = name.to_socket_addrs();
            // The receiver may have given up already.
            let _ = answer.send(addresses.map(|all| all.take(MAX_ADDRESSES).collect()));
        })?;
    let found = found.recv_timeout(left(deadline)?);
    found.map_err(|_| Error::from(ErrorKind::TimedOut))?
}

/// Connects to the first reachable address. Each gets an equal share of the remaining time, so that an
/// unresponsive one leaves time for the others.
pub(super) fn reach(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, Error> {
    let mut last = Error::from(ErrorKind::NotFound);
    for (address, others) in addresses.iter().zip((0..addresses.len() as u32).rev()) {
        match TcpStream::connect_timeout(address, left(deadline)? / (others + 1)) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the time left until a deadline; an error if it has passed.
fn left(deadline: Instant) -> Result<Duration, Error> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left < Duration::from_millis(1) {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

/// Converts `WouldBlock`, by which some systems report a socket's timeout, to `TimedOut`.
fn timed(error: Error) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    }
}
