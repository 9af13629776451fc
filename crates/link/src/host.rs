//! One machine's network stack. This file dispatches; sending, receiving and recovery have rooms of
//! their own.

mod receive;
mod recover;
mod send;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::connection::{Burst, Connection};
use crate::downlink::{Discipline, Downlink};
use crate::profile::Profile;
use crate::queue::Timers;
use crate::rate::Rate;
use crate::uplink::Ready;

/// A connection of one host, as a small dense integer that the driver hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnIx(pub u32);

/// What a host is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Its TCP.
    pub profile: Profile,
    /// Uplink, bytes per second.
    pub uplink_bytes_per_s: u64,
    /// Downlink, bytes per second.
    pub downlink_bytes_per_s: u64,
    /// Rates do not bind before this time, nanoseconds.
    pub unlimited_until_ns: u64,
    /// The queue before the downlink.
    pub queue: Discipline,
    /// Probability that a packet it sends is lost on the way.
    pub loss: f64,
    /// Delay added to each burst, drawn evenly between 0 and this, nanoseconds. Packets of one
    /// connection keep their order.
    pub jitter_ns: u64,
    /// Packets that a connection has carried in each direction before the first frame.
    pub setup_packets: u32,
    /// A frame longer than this is announced by [`Output::Begun`], bytes.
    pub begun_over_bytes: u64,
    /// The layers above hand a frame down in pieces of so many bytes, and no packet holds parts of two
    /// pieces while the window lets both go at once; 0: in one piece.
    pub piece_bytes: u32,
}

/// Which frames of a connection go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Before frames of the same connection that have not begun.
    Urgent,
    /// In order.
    Normal,
}

/// Something that happened.
#[derive(Debug)]
pub enum Input<P> {
    /// A connection is open. `conn` must be new or closed.
    Connect {
        /// Our name for it.
        conn: ConnIx,
        /// The other host.
        remote: u32,
        /// Its name for the connection.
        remote_conn: ConnIx,
        /// One-way delay to it, nanoseconds.
        delay_ns: u64,
        /// One-way delay from it, nanoseconds.
        reverse_delay_ns: u64,
        /// Probability that a packet to it is lost, beside what the host loses anyway.
        loss: f64,
    },
    /// A connection is gone, with everything on it.
    Close(ConnIx),
    /// Send a frame.
    Write {
        /// Where.
        conn: ConnIx,
        /// What; comes out at the other end.
        frame: P,
        /// Its bytes, without headers of TCP and IP.
        bytes: u64,
        /// Its place.
        priority: Priority,
    },
    /// Something came from another host.
    Arrival(Arrival<P>),
    /// The rate of the links changes, bytes per second.
    Rates {
        /// Uplink.
        uplink_bytes_per_s: u64,
        /// Downlink.
        downlink_bytes_per_s: u64,
    },
    /// The probability of loss changes.
    Loss(f64),
    /// Time has passed.
    Tick,
}

/// What travels between hosts: hand it to the other one at the time given.
#[derive(Clone, Debug)]
pub struct Arrival<P> {
    /// The receiver's name for the connection.
    pub conn: ConnIx,
    pub(crate) what: Travels<P>,
}

impl<P> Arrival<P> {
    /// Packets with data.
    pub fn packets(&self) -> u64 {
        match &self.what {
            Travels::Burst(burst) => u64::from(burst.packets - burst.missing),
            Travels::Ack(_) | Travels::Loss { .. } => 0,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Travels<P> {
    Burst(Burst<P>),
    /// So many packets more have arrived.
    Ack(u32),
    /// Burst `seq` is not whole: so many packets were dropped by the queue, and so many arrived
    /// after what is missing.
    Loss {
        seq: u32,
        dropped: u32,
        later: u32,
    },
}

/// Something to do.
#[derive(Debug)]
pub enum Output<P> {
    /// Give this to another host at that time, which is never before now plus the delay.
    Send {
        /// Which host.
        to: u32,
        /// When, nanoseconds.
        at_ns: u64,
        /// What.
        arrival: Arrival<P>,
    },
    /// The first packets of a frame longer than [`Config::begun_over_bytes`] are here. Each such frame has
    /// one of these before its [`Output::Received`]; where all first packets of one are lost, the next one
    /// of its connection may begin before it.
    Begun {
        /// Where.
        conn: ConnIx,
        /// Bytes of the frame, as they were written.
        bytes: u64,
    },
    /// A frame has come whole.
    Received {
        /// Where.
        conn: ConnIx,
        /// What.
        frame: P,
    },
    /// A connection that was full takes frames again.
    Writable(ConnIx),
}

/// The driver broke the contract; the input was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A connection that is not open.
    NotOpen(ConnIx),
    /// A connection that is open already.
    Open(ConnIx),
    /// `now` went backwards.
    TimeWentBackwards,
}

/// What passed, in bytes on the wire and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes sent, acknowledgements and what was lost on the way included.
    pub sent_bytes: u64,
    /// Bytes that came out of the downlink, acknowledgements included.
    pub received_bytes: u64,
    /// Packets sent with data.
    pub sent_packets: u64,
    /// Packets received with data.
    pub received_packets: u64,
    /// Packets with data that were lost on the way or dropped by the queue.
    pub lost_packets: u64,
    /// Packets sent again.
    pub repaired_packets: u64,
    /// Packets that belonged to connections that were closed while they travelled.
    pub orphaned_packets: u64,
}

/// Things a host does later.
#[derive(Debug)]
pub(crate) enum Later<P> {
    UplinkFree,
    BurstEnds { burst: u64 },
    Passed { conn: u32, burst: Burst<P> },
    AckSome { burst: u64, step_ns: u64 },
    Ack { conn: u32, packets: u32 },
    WindowOpens { conn: u32 },
    TimeOut { conn: u32, seq: u32 },
}

/// A burst that is arriving.
#[derive(Debug)]
pub(crate) struct Arriving<P> {
    pub(crate) id: u64,
    pub(crate) conn: u32,
    pub(crate) from_ns: u64,
    pub(crate) acked: u32,
    /// When what has come by then is acknowledged.
    pub(crate) next_ack_ns: u64,
    pub(crate) burst: Burst<P>,
}

/// The stack. Driven like every machine here: [`handle`](Self::handle), [`poll`](Self::poll) until
/// `None`, then `handle` with [`Input::Tick`] no later than [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct Host<P> {
    pub(crate) config: Config,
    pub(crate) now: u64,
    pub(crate) connections: Vec<Option<Connection<P>>>,
    pub(crate) uplink: Rate,
    pub(crate) uplink_watched: bool,
    pub(crate) ready: Ready,
    pub(crate) written: u64,
    pub(crate) downlink: Downlink,
    pub(crate) arriving: Vec<Arriving<P>>,
    pub(crate) arrivals: u64,
    /// Packets in the downlink or before it.
    pub(crate) inside: u64,
    pub(crate) later: Timers<Later<P>>,
    pub(crate) outputs: VecDeque<Output<P>>,
    /// Only where loss or jitter ask for it.
    pub(crate) rng: Option<Box<ChaCha8Rng>>,
    seed: [u8; 32],
    pub(crate) totals: Totals,
}

impl<P> Host<P> {
    /// A host without connections. Loss and jitter follow from `seed`.
    pub fn new(config: Config, seed: [u8; 32]) -> Self {
        let (step, burst) = (config.profile.rate_step_ns, config.profile.rate_burst_bytes);
        let rate = |bytes_per_s| Rate::new(bytes_per_s, step, burst);
        let down = rate(config.downlink_bytes_per_s);
        let mut host = Self {
            uplink: rate(config.uplink_bytes_per_s),
            downlink: Downlink::new(&down, config.queue),
            now: 0,
            connections: Vec::new(),
            uplink_watched: false,
            ready: Ready::new(config.profile.sharing),
            written: 0,
            arriving: Vec::new(),
            arrivals: 0,
            inside: 0,
            later: Timers::default(),
            outputs: VecDeque::new(),
            rng: None,
            seed,
            totals: Totals::default(),
            config,
        };
        host.need_rng(0.0);
        host
    }

    fn need_rng(&mut self, loss: f64) {
        let random = self.config.loss.max(loss) > 0.0 || self.config.jitter_ns > 0;
        if random && self.rng.is_none() {
            self.rng = Some(Box::new(ChaCha8Rng::from_seed(self.seed)));
        }
    }

    /// Takes one input.
    ///
    /// # Errors
    /// [`Misuse`] when the driver breaks the contract.
    pub fn handle(&mut self, now_ns: u64, input: Input<P>) -> Result<(), Misuse> {
        if now_ns < self.now {
            return Err(Misuse::TimeWentBackwards);
        }
        self.now = now_ns;
        self.run_due();
        match input {
            Input::Connect {
                conn,
                remote,
                remote_conn,
                delay_ns,
                reverse_delay_ns,
                loss,
            } => {
                let slot = conn.0 as usize;
                if self.connections.get(slot).is_some_and(Option::is_some) {
                    return Err(Misuse::Open(conn));
                }
                if self.connections.len() <= slot {
                    self.connections.resize_with(slot + 1, || None);
                }
                self.connections[slot] = Some(Connection::new(
                    &self.config.profile,
                    (remote, remote_conn.0),
                    (delay_ns, reverse_delay_ns),
                    self.config.setup_packets,
                    loss,
                ));
                self.need_rng(loss);
            }
            Input::Close(conn) => self.close(conn)?,
            Input::Write {
                conn,
                frame,
                bytes,
                priority,
            } => self.write(conn, frame, bytes, priority)?,
            Input::Arrival(arrival) => self.arrival(arrival),
            Input::Rates {
                uplink_bytes_per_s,
                downlink_bytes_per_s,
            } => {
                self.uplink.set(uplink_bytes_per_s);
                let down = Rate::new(downlink_bytes_per_s, 0, 0);
                self.downlink.set_rate(now_ns, &down);
            }
            Input::Loss(loss) => {
                self.config.loss = loss;
                self.need_rng(loss);
            }
            Input::Tick => {}
        }
        Ok(())
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        self.later.next()
    }

    /// Whether the socket takes another frame at once. When it does not, [`Output::Writable`] says
    /// from when on it does.
    pub fn is_writable(&self, conn: ConnIx) -> bool {
        self.get(conn.0)
            .is_none_or(|c| c.unsent_bytes < self.config.profile.send_buffer_bytes)
    }

    /// Whether a connection is open.
    pub fn is_open(&self, conn: ConnIx) -> bool {
        self.get(conn.0).is_some()
    }

    /// What passed so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Packets with data that are flowing in or waiting for the downlink now.
    pub fn arriving_packets(&self) -> u64 {
        self.inside
    }

    pub(crate) fn get(&self, conn: u32) -> Option<&Connection<P>> {
        self.connections.get(conn as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, conn: u32) -> Option<&mut Connection<P>> {
        self.connections.get_mut(conn as usize)?.as_mut()
    }

    fn close(&mut self, conn: ConnIx) -> Result<(), Misuse> {
        let slot = self.connections.get_mut(conn.0 as usize);
        slot.and_then(Option::take).ok_or(Misuse::NotOpen(conn))?;
        self.ready.remove(conn.0);
        Ok(())
    }

    fn run_due(&mut self) {
        while let Some(what) = self.later.take(self.now) {
            match what {
                Later::UplinkFree => {
                    self.uplink_watched = false;
                    self.serve();
                }
                Later::BurstEnds { burst } => self.burst_ends(burst),
                Later::Passed { conn, burst } => self.passed(conn, burst),
                Later::AckSome { burst, step_ns } => self.ack_some(burst, step_ns),
                Later::Ack { conn, packets } => self.send_ack(conn, packets),
                Later::WindowOpens { conn } => self.window_opens(conn),
                Later::TimeOut { conn, seq } => self.time_out(conn, seq),
            }
        }
    }

    fn arrival(&mut self, arrival: Arrival<P>) {
        let conn = arrival.conn.0;
        match arrival.what {
            Travels::Burst(burst) => self.burst_begins(conn, burst),
            Travels::Ack(packets) => {
                let (now, profile) = (self.now, self.config.profile);
                self.totals.received_bytes += u64::from(profile.header_bytes);
                if let Some(connection) = self.get_mut(conn) {
                    connection.window.acknowledged(now, packets, &profile);
                    self.make_ready(conn);
                    self.serve();
                }
            }
            Travels::Loss {
                seq,
                dropped,
                later,
            } => self.loss_reported(conn, seq, dropped, later),
        }
    }
}
