//! Network stack of one machine. This file dispatches inputs; the submodules send, receive and recover.

mod receive;
mod recover;
mod send;
mod totals;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use thiserror::Error;

use crate::connection::{Burst, TcpEndpoint};
use crate::downlink::{Downlink, QueueDiscipline};
use crate::flow::{FlowControl, StreamFlow};
use crate::handshake::SentBefore;
use crate::profile::Profile;
use crate::queue::Timers;
use crate::rate::LinkRate;
use crate::uplink::ReadyConnections;

use receive::IncomingBurst;

pub use totals::TrafficTotals;

/// A connection of one host, as a small dense integer assigned by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnIx(pub u32);

/// Configuration of one host.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StackConfig {
    /// TCP stack of the host.
    pub profile: Profile,
    /// Rate of the uplink, bytes per second.
    pub uplink_bytes_per_s: u64,
    /// Rate of the downlink, bytes per second.
    pub downlink_bytes_per_s: u64,
    /// Time before which no rate limit applies, nanoseconds.
    pub unlimited_until_ns: u64,
    /// Discipline of the queue before the downlink.
    pub queue: QueueDiscipline,
    /// Probability that a packet sent by the host is lost on the way.
    pub loss: f64,
    /// Upper limit of the random delay added to each burst, drawn evenly from 0, nanoseconds. Packets of
    /// one connection keep their order.
    pub jitter_ns: u64,
    /// Packets that a connection has carried in each direction before the first frame.
    pub setup_packets: u32,
    /// Length above which an incoming frame is announced by [`Output::Begun`], bytes.
    pub begun_over_bytes: u64,
    /// Size of the pieces in which the layers above pass a frame down, bytes; 0 for the whole frame in one piece. Two
    /// pieces that the window lets leave at once do not share a packet.
    pub piece_bytes: u32,
    /// Flow control of the stream on each connection; `None` if the multiplexer has none, as mplex.
    pub flow_control: Option<FlowControl>,
}

impl StackConfig {
    /// A host with this TCP stack and these rates on an ideal network: the queue before the downlink is tail-drop
    /// without a limit, no packet is lost, and no delay varies.
    pub const fn new(profile: Profile, uplink_bytes_per_s: u64, downlink_bytes_per_s: u64) -> Self {
        Self {
            profile,
            uplink_bytes_per_s,
            downlink_bytes_per_s,
            unlimited_until_ns: 0,
            queue: QueueDiscipline::Fifo {
                max_bytes: u64::MAX,
            },
            loss: 0.0,
            jitter_ns: 0,
            setup_packets: 0,
            begun_over_bytes: u64::MAX,
            piece_bytes: 0,
            flow_control: None,
        }
    }
}

/// Position of a frame among the unsent frames of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The frame goes before those frames of its connection that have not started.
    Urgent,
    /// The frame goes after all frames written earlier.
    Normal,
}

/// Event that the driver reports to a host.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input<P> {
    /// A connection is open; `conn` must be new or closed.
    Connect {
        /// This host's index of the connection.
        conn: ConnIx,
        /// Index of the other host.
        remote: u32,
        /// The other host's index of the connection.
        remote_conn: ConnIx,
        /// One-way delay to the other host, nanoseconds.
        delay_ns: u64,
        /// One-way delay from the other host, nanoseconds.
        reverse_delay_ns: u64,
        /// Probability that a packet to the other host is lost, in addition to [`StackConfig::loss`].
        loss: f64,
        /// Packets and bytes that this end has sent during the set-up; `None` for [`StackConfig::setup_packets`].
        sent_before: Option<SentBefore>,
    },
    /// A connection is closed, and everything queued on it is discarded.
    Close(ConnIx),
    /// Send a frame.
    Write {
        /// Connection on which to send.
        conn: ConnIx,
        /// The frame, delivered unchanged at the other end.
        frame: P,
        /// Length of the frame, without headers of TCP and IP.
        bytes: u64,
        /// Position among the unsent frames of the connection.
        priority: Priority,
    },
    /// A transmission from another host arrives.
    Arrival(Arrival<P>),
    /// The rates of the links change, bytes per second.
    Rates {
        /// New rate of the uplink.
        uplink_bytes_per_s: u64,
        /// New rate of the downlink.
        downlink_bytes_per_s: u64,
    },
    /// The probability of loss, [`StackConfig::loss`], changes.
    Loss(f64),
    /// Time has passed; due timers are run.
    Tick,
}

/// A transmission between hosts: the driver gives it to the receiver at the time stated with it.
#[derive(Clone, Debug)]
pub struct Arrival<P> {
    /// The receiver's index of the connection.
    pub conn: ConnIx,
    /// Content of the transmission.
    pub segment: Segment<P>,
}

impl<P> Arrival<P> {
    /// Number of packets with data in the transmission.
    pub fn packets(&self) -> u64 {
        match &self.segment {
            Segment::Burst(burst) => u64::from(burst.packets - burst.missing),
            Segment::Ack(_) | Segment::WindowUpdate(_) | Segment::Loss { .. } => 0,
        }
    }
}

/// Content of a transmission between hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<P> {
    /// Packets with data; boxed, because most transmissions in transit are acknowledgements.
    Burst(Box<Burst<P>>),
    /// Acknowledgement of this many further packets.
    Ack(u32),
    /// Further bytes that the sender may send.
    WindowUpdate(u64),
    /// Report that burst `seq` is incomplete.
    Loss {
        /// Sequence number of the burst.
        seq: u32,
        /// Packets that the receiver's queue dropped.
        dropped: u32,
        /// Whether the sender waits for the acknowledgement of the dropped packets.
        ack_wanted: bool,
        /// Packets that arrived after the missing ones.
        later: u32,
    },
}

/// Action that a host requests from its driver.
#[derive(Debug)]
pub enum Output<P> {
    /// Pass a transmission to another host at the given time, which is never before now plus the delay.
    Send {
        /// Index of the receiving host.
        to: u32,
        /// Time of the arrival, nanoseconds.
        at_ns: u64,
        /// The transmission to pass on.
        arrival: Arrival<P>,
    },
    /// The first packets of a frame longer than [`StackConfig::begun_over_bytes`] have arrived. Each such
    /// frame has one of these before its [`Output::Received`]. If all first packets of a frame are lost,
    /// the next frame of its connection may be announced before it.
    Begun {
        /// Connection on which the frame arrives.
        conn: ConnIx,
        /// Length of the frame, as it was written.
        bytes: u64,
    },
    /// A frame has arrived completely.
    Received {
        /// Connection on which the frame arrived.
        conn: ConnIx,
        /// The frame as it was written.
        frame: P,
    },
    /// A connection whose send buffer was full accepts frames again.
    Writable(ConnIx),
}

/// Violation of the contract by the driver; the input was ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The connection named is not open.
    #[error("connection {} is not open", .0.0)]
    NotOpen(ConnIx),
    /// The connection named is open already.
    #[error("connection {} is open already", .0.0)]
    Open(ConnIx),
    /// `now_ns` is less than in an earlier call.
    #[error("time went backwards")]
    TimeWentBackwards,
}

/// Timer of a host.
#[derive(Debug)]
pub(crate) enum Timer<P> {
    UplinkFree,
    BurstEnds {
        burst: u32,
    },
    /// A burst has passed the downlink; `id` is that of its arrival, 0 if it arrived all at once.
    Passed {
        conn: u32,
        id: u32,
        /// Packets that are still to be acknowledged.
        planned: u32,
        burst: Box<Burst<P>>,
    },
    AckSome {
        burst: u32,
        step_ns: u64,
    },
    Ack {
        conn: u32,
        packets: u32,
    },
    WindowOpens {
        conn: u32,
    },
    TimeOut {
        conn: u32,
        seq: u32,
    },
}

/// Network stack of one machine. It is driven like every state machine of this project:
/// [`handle`](Self::handle), [`poll`](Self::poll) until `None`, then `handle` with [`Input::Tick`]
/// no later than [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct Host<P> {
    pub(crate) config: Arc<StackConfig>,
    /// Probability that a packet sent by the host is lost on the way: the configured one until it is changed.
    pub(crate) loss: f64,
    pub(crate) now: u64,
    pub(crate) connections: Vec<Option<TcpEndpoint<P>>>,
    pub(crate) uplink: LinkRate,
    pub(crate) uplink_watched: bool,
    pub(crate) ready: ReadyConnections,
    pub(crate) written: u64,
    pub(crate) downlink: Downlink,
    pub(crate) arriving: Vec<IncomingBurst<P>>,
    pub(crate) arrivals: u32,
    /// Packets with data in the downlink or in the queue before it.
    pub(crate) queued_packets: u64,
    pub(crate) timers: Timers<Timer<P>>,
    pub(crate) outputs: VecDeque<Output<P>>,
    /// Random numbers; present only if loss or jitter need them.
    pub(crate) rng: Option<Box<ChaCha8Rng>>,
    seed: [u8; 32],
    pub(crate) totals: TrafficTotals,
}

impl<P> Host<P> {
    /// A host without connections. `seed` determines its loss and jitter. Hosts may share a configuration.
    pub fn new(config: impl Into<Arc<StackConfig>>, seed: [u8; 32]) -> Self {
        let config = config.into();
        let (step, burst) = (config.profile.rate_step_ns, config.profile.rate_burst_bytes);
        let rate = |bytes_per_s| LinkRate::new(bytes_per_s, step, burst);
        let down = rate(config.downlink_bytes_per_s);
        let mut host = Self {
            uplink: rate(config.uplink_bytes_per_s),
            downlink: Downlink::new(&down, config.queue),
            now: 0,
            connections: Vec::new(),
            uplink_watched: false,
            ready: ReadyConnections::new(config.profile.sharing),
            written: 0,
            arriving: Vec::new(),
            arrivals: 0,
            queued_packets: 0,
            timers: Timers::default(),
            outputs: VecDeque::new(),
            rng: None,
            seed,
            totals: TrafficTotals::default(),
            loss: config.loss,
            config,
        };
        host.need_rng(0.0);
        host
    }

    fn need_rng(&mut self, loss: f64) {
        let random = self.loss.max(loss) > 0.0 || self.config.jitter_ns > 0;
        if random && self.rng.is_none() {
            self.rng = Some(Box::new(ChaCha8Rng::from_seed(self.seed)));
        }
    }

    /// Allocates room for exactly this many connections, numbered from 0; otherwise, it grows as they are opened.
    pub fn reserve_connections(&mut self, count: usize) {
        let more = count.saturating_sub(self.connections.len());
        self.connections.reserve_exact(more);
    }

    /// Handles one input, after running all timers that are due.
    ///
    /// # Errors
    /// Returns [`Misuse`] when the driver breaks the contract.
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
                sent_before,
            } => {
                let slot = conn.0 as usize;
                if self.connections.get(slot).is_some_and(Option::is_some) {
                    return Err(Misuse::Open(conn));
                }
                if self.connections.len() <= slot {
                    self.connections.resize_with(slot + 1, || None);
                }
                let setup_packets =
                    sent_before.map_or(self.config.setup_packets, |sent| sent.packets);
                self.totals.sent_bytes += sent_before.map_or(0, |sent| sent.wire_bytes);
                self.connections[slot] = Some(TcpEndpoint::new(
                    &self.config.profile,
                    (remote, remote_conn.0),
                    (delay_ns, reverse_delay_ns),
                    setup_packets,
                    loss,
                    self.config
                        .flow_control
                        .map(|rules| StreamFlow::new(rules, now_ns)),
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
                let down = LinkRate::new(downlink_bytes_per_s, 0, 0);
                self.downlink.set_rate(now_ns, &down);
            }
            Input::Loss(loss) => {
                self.loss = loss;
                self.need_rng(loss);
            }
            Input::Tick => {}
        }
        Ok(())
    }

    /// Returns the next action for the driver, or `None` when there is none left.
    pub fn poll(&mut self) -> Option<Output<P>> {
        let next = self.outputs.pop_front();
        if next.is_none() {
            self.outputs = VecDeque::new();
        }
        next
    }

    /// Latest time of the next [`Input::Tick`], nanoseconds; `None` if no timer is set.
    pub fn next_timeout(&self) -> Option<u64> {
        self.timers.next()
    }

    /// Whether the socket accepts another frame at once; also true if the connection is not open. Otherwise,
    /// [`Output::Writable`] tells when the socket accepts frames again.
    pub fn is_writable(&self, conn: ConnIx) -> bool {
        let profile = &self.config.profile;
        self.get(conn.0).is_none_or(|c| c.is_writable(profile))
    }

    /// Whether a connection is open.
    pub fn is_open(&self, conn: ConnIx) -> bool {
        self.get(conn.0).is_some()
    }

    /// Traffic totals since the start.
    pub fn totals(&self) -> TrafficTotals {
        self.totals
    }

    /// Packets with data currently arriving at or waiting for the downlink.
    pub fn arriving_packets(&self) -> u64 {
        self.queued_packets
    }

    pub(crate) fn get(&self, conn: u32) -> Option<&TcpEndpoint<P>> {
        self.connections.get(conn as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, conn: u32) -> Option<&mut TcpEndpoint<P>> {
        self.connections.get_mut(conn as usize)?.as_mut()
    }

    fn close(&mut self, conn: ConnIx) -> Result<(), Misuse> {
        let slot = self.connections.get_mut(conn.0 as usize);
        slot.and_then(Option::take).ok_or(Misuse::NotOpen(conn))?;
        self.ready.remove(conn.0);
        Ok(())
    }

    fn run_due(&mut self) {
        while let Some(timer) = self.timers.take(self.now) {
            match timer {
                Timer::UplinkFree => {
                    self.uplink_watched = false;
                    self.serve();
                }
                Timer::BurstEnds { burst } => self.burst_ends(burst),
                Timer::Passed {
                    conn,
                    id,
                    planned,
                    burst,
                } => self.waited(conn, id, planned, *burst),
                Timer::AckSome { burst, step_ns } => self.ack_some(burst, step_ns),
                Timer::Ack { conn, packets } => self.send_late_ack(conn, packets),
                Timer::WindowOpens { conn } => self.window_opens(conn),
                Timer::TimeOut { conn, seq } => self.time_out(conn, seq),
            }
        }
    }

    fn arrival(&mut self, arrival: Arrival<P>) {
        let conn = arrival.conn.0;
        match arrival.segment {
            Segment::Burst(burst) => self.burst_begins(conn, burst),
            Segment::Ack(packets) => {
                let (now, profile) = (self.now, self.config.profile);
                self.totals.received_bytes += u64::from(profile.header_bytes);
                if let Some(connection) = self.get_mut(conn) {
                    connection.window.acknowledged(now, packets, &profile);
                    self.buffer_drains(conn);
                    self.make_ready(conn);
                    self.serve();
                }
            }
            Segment::WindowUpdate(bytes) => self.granted(conn, bytes),
            Segment::Loss {
                seq,
                dropped,
                ack_wanted,
                later,
            } => self.loss_reported(conn, seq, dropped, ack_wanted, later),
        }
    }
}
