//! The two roles of a measurement: a sender that serves all its sockets in turn, and a receiver with a thread for each.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, poll};

use super::{FanCase, FanTime, FanTimes};
use crate::Congestion;
use crate::kernel::{Moment, socket};

/// Timeout of one message, longer than any takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Pause between connecting and the first message.
const SETTLED: Duration = Duration::from_secs(1);

const READ_BYTES: usize = 64 * 1024;

/// Report of a receiver on its connection: the times of the first and of the last byte, Unix nanoseconds.
const REPORT_BYTES: usize = 16;

/// Listens for the connections of a case.
///
/// # Errors
/// An error of the socket.
pub fn listen(
    at: SocketAddrV4,
    case: &FanCase,
    congestion: Option<Congestion>,
) -> io::Result<TcpListener> {
    let backlog = i32::try_from(case.connections).map_err(io::Error::other)?;
    socket::listening(at, congestion, backlog)
}

/// Accepts the connections of a case, and reports the times of each message on its connection.
///
/// # Errors
/// The first error of a socket.
pub fn receive(listener: &TcpListener, case: &FanCase) -> io::Result<()> {
    let connections = usize::try_from(case.connections).map_err(io::Error::other)?;
    let threads: io::Result<Vec<_>> = (0..connections)
        .map(|_| {
            let (stream, _) = listener.accept()?;
            let size_bytes = case.size_bytes;
            thread::Builder::new()
                .stack_size(256 * 1024)
                .spawn(move || report(stream, size_bytes))
        })
        .collect();
    for thread in threads? {
        let ended = thread.join();
        ended.map_err(|_| io::Error::other("a reading thread ended by a panic"))??;
    }
    Ok(())
}

/// Reads the messages of one connection.
fn report(mut stream: TcpStream, size_bytes: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; READ_BYTES];
    for _ in Moment::ALL {
        let (mut left_bytes, mut begun_ns) = (size_bytes, 0);
        while left_bytes > 0 {
            let most = usize::try_from(left_bytes).map_or(READ_BYTES, |left| left.min(READ_BYTES));
            let len_bytes = stream.read(&mut buffer[..most])?;
            if len_bytes == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if begun_ns == 0 {
                begun_ns = unix_ns()?;
            }
            left_bytes -= len_bytes as u64;
        }
        let mut report = [0; REPORT_BYTES];
        report[..8].copy_from_slice(&begun_ns.to_be_bytes());
        report[8..].copy_from_slice(&unix_ns()?.to_be_bytes());
        stream.write_all(&report)?;
    }
    Ok(())
}

/// Opens the connections of a case and sends the three messages; returns their arrivals. Without a congestion control,
/// the connections use the system's.
///
/// # Errors
/// The first error of a socket.
pub fn send(
    to: SocketAddrV4,
    case: &FanCase,
    congestion: Option<Congestion>,
) -> io::Result<FanTimes> {
    let streams = (0..case.connections).map(|_| {
        let stream = socket::connected(to, congestion, None)?;
        stream.set_nodelay(true)?;
        // Shadow, whose virtual time cannot stall, has no such option.
        let _ = stream.set_read_timeout(Some(PATIENCE));
        Ok(stream)
    });
    let mut streams = streams.collect::<io::Result<Vec<_>>>()?;
    let message = vec![0; usize::try_from(case.size_bytes).map_err(io::Error::other)?];
    let mut times = FanTimes::default();
    for (moment, times) in Moment::ALL.into_iter().zip(&mut times) {
        thread::sleep(pause(moment, case));
        let began_ns = unix_ns()?;
        write_to_all(&mut streams, &message)?;
        for stream in &mut streams {
            let mut report = [0; REPORT_BYTES];
            stream.read_exact(&mut report)?;
            let (begun, done) = report.split_at(8);
            let since_us = |bytes: &[u8]| {
                let ns = u64::from_be_bytes(bytes.try_into().unwrap_or_default());
                ns.saturating_sub(began_ns) / 1_000
            };
            times.push(FanTime {
                begun_us: since_us(begun),
                done_us: since_us(done),
            });
        }
    }
    Ok(times)
}

/// Returns the pause before a message; see [`Moment`].
pub(super) fn pause(moment: Moment, case: &FanCase) -> Duration {
    match moment {
        Moment::Cold => SETTLED,
        // Time for the acknowledgement of the receiver's last report to arrive.
        Moment::Warm => Duration::from_millis(case.one_way_ms + 60),
        Moment::Idle => Duration::from_millis(case.idle_ms),
    }
}

/// Writes the message to all sockets: first to each in turn as much as it accepts, then to those that accept more.
fn write_to_all(streams: &mut [TcpStream], message: &[u8]) -> io::Result<()> {
    for stream in &*streams {
        stream.set_nonblocking(true)?;
    }
    let mut unwritten: Vec<(usize, usize)> = (0..streams.len()).map(|at| (at, 0)).collect();
    while !unwritten.is_empty() {
        for (at, written) in &mut unwritten {
            while *written < message.len() {
                match streams[*at].write(&message[*written..]) {
                    Ok(len_bytes) => *written += len_bytes,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        unwritten.retain(|(_, written)| *written < message.len());
        if !unwritten.is_empty() {
            let waits = unwritten.iter();
            let mut waits: Vec<PollFd<'_>> = waits
                .map(|(at, _)| PollFd::new(&streams[*at], PollFlags::OUT))
                .collect();
            poll(&mut waits, None)?;
        }
    }
    for stream in &*streams {
        stream.set_nonblocking(false)?;
    }
    Ok(())
}

fn unix_ns() -> io::Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map_err(io::Error::other)?;
    Ok(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
