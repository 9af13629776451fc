//! The network: all hosts' links and the paths between them, as one state machine.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use thiserror::Error;

use super::change::{Change, Cuts};
use super::config::{ConfigError, HostConfig};
use super::path::{PairArrivals, Paths};
use super::rng::{MILLION, PacketRng};
use super::shaper::{Offered, Shaper};

/// Event that the driver reports to the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<P> {
    /// A host sends a packet.
    Packet {
        /// Index of the sending host.
        from: u32,
        /// Index of the receiving host.
        to: u32,
        /// Length on the wire, including headers.
        len_bytes: u32,
        /// The driver's handle, returned unchanged.
        packet: P,
    },
    /// A rate, a loss or a cut changes.
    Change(Change),
    /// Time has passed; due events are processed.
    Tick,
}

/// Action that the network requests from its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// Deliver the packet to its receiver.
    Deliver {
        /// Index of the receiving host.
        to: u32,
        /// Time of the delivery; not after `now_ns` of the call that produced it.
        at_ns: u64,
        /// The driver's handle of the packet.
        packet: P,
    },
    /// The packet was dropped.
    Dropped(Dropped<P>),
}

/// Report of a packet that does not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// Index of the sending host.
    pub from: u32,
    /// Index of the receiving host.
    pub to: u32,
    /// Time of the drop, nanoseconds.
    pub at_ns: u64,
    /// Cause of the drop.
    pub why: Why,
    /// The driver's handle of the packet.
    pub packet: P,
}

/// Cause of a dropped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Random loss, of the path or of the sender.
    Lost,
    /// Cut between sender and receiver.
    Cut,
    /// Queue without room for the packet.
    Full(Side),
    /// CoDel, because the delay of the queue was above the target for too long.
    Late(Side),
}

/// One of the two queues that a packet passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The sender's uplink queue.
    Uplink,
    /// The receiver's downlink queue.
    Downlink,
}

/// Violation of the contract by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetworkMisuse {
    /// `now_ns` is less than in an earlier call.
    #[error("time went backwards from {from_ns} ns to {to_ns} ns")]
    TimeWentBackwards {
        /// Time of the previous call, nanoseconds.
        from_ns: u64,
        /// Time of this call, nanoseconds.
        to_ns: u64,
    },
    /// No host has the given index.
    #[error("there is no host {host}: the network has {hosts}, counted from 0")]
    UnknownHost {
        /// Index that was given.
        host: u32,
        /// Number of hosts in the network.
        hosts: usize,
    },
    /// A probability is above one.
    #[error("a probability of {ppm} in a million is over one: give at most 1000000")]
    Probability {
        /// The value given, in millionths.
        ppm: u32,
    },
}

/// A packet in the network.
#[derive(Clone, Debug)]
struct Transit<P> {
    from: u32,
    to: u32,
    len_bytes: u32,
    packet: P,
}

#[derive(Debug)]
struct HostState<P> {
    uplink: Shaper<Transit<P>>,
    downlink: Shaper<Transit<P>>,
    /// Loss of packets that the host sends, in millionths, in addition to the loss of paths.
    loss_ppm: u32,
    /// Packets that left the uplink since the host was held; `None` if it is not held.
    held: Option<Vec<Transit<P>>>,
}

/// Scheduled event of the network. Its derived order decides nothing, because `ScheduledEvent::seq` differs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NetworkEvent {
    /// A host's uplink or downlink has sent a packet.
    Sent(u32, Side),
    /// A packet of `Network::flying` reaches its downlink.
    Arrives,
}

/// Entry of the event queue. Events of the same time are ordered by when they were scheduled.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScheduledEvent {
    at_ns: u64,
    seq: u64,
    event: NetworkEvent,
}

/// A network of hosts numbered from 0 on. See the [module](super).
#[derive(Debug)]
pub struct Network<P> {
    hosts: Vec<HostState<P>>,
    paths: Paths,
    cuts: Cuts,
    /// Last arrivals of the pairs that have exchanged packets.
    arrivals: BTreeMap<(u32, u32), PairArrivals>,
    rng: PacketRng,
    now_ns: u64,
    due: BinaryHeap<Reverse<ScheduledEvent>>,
    next_seq: u64,
    /// Packets on paths, by the `seq` of their arrival.
    flying: BTreeMap<u64, Transit<P>>,
    outputs: VecDeque<Output<P>>,
}

impl<P> Network<P> {
    /// A network without packets. `seed` determines all its random choices.
    ///
    /// # Errors
    ///
    /// Returns an error when `paths` do not fit the hosts or hold a probability above one, or when there
    /// are too many hosts.
    pub fn new(hosts: &[HostConfig], paths: Paths, seed: [u8; 32]) -> Result<Self, ConfigError> {
        if u32::try_from(hosts.len()).is_err() {
            return Err(ConfigError::TooManyHosts { hosts: hosts.len() });
        }
        paths.check(hosts.len())?;
        let host = |config: &HostConfig| HostState {
            uplink: Shaper::new(&config.uplink),
            downlink: Shaper::new(&config.downlink),
            loss_ppm: 0,
            held: None,
        };
        Ok(Self {
            hosts: hosts.iter().map(host).collect(),
            paths,
            cuts: Cuts::default(),
            arrivals: BTreeMap::new(),
            rng: PacketRng::new(seed),
            now_ns: 0,
            due: BinaryHeap::new(),
            next_seq: 0,
            flying: BTreeMap::new(),
            outputs: VecDeque::new(),
        })
    }

    /// Processes everything that was due until `now_ns`, each event at its time, then takes the input.
    ///
    /// # Errors
    ///
    /// Returns an error when time goes backwards, an index names no host, or a probability is above one.
    /// The input is then ignored.
    pub fn handle(&mut self, now_ns: u64, input: Input<P>) -> Result<(), NetworkMisuse> {
        if now_ns < self.now_ns {
            let from_ns = self.now_ns;
            return Err(NetworkMisuse::TimeWentBackwards {
                from_ns,
                to_ns: now_ns,
            });
        }
        self.advance(now_ns);
        match input {
            Input::Tick => Ok(()),
            Input::Change(change) => self.change(now_ns, change),
            Input::Packet {
                from,
                to,
                len_bytes,
                packet,
            } => {
                self.check_hosts(&[from, to])?;
                let transit = Transit {
                    from,
                    to,
                    len_bytes,
                    packet,
                };
                self.offer(now_ns, from, Side::Uplink, transit);
                Ok(())
            }
        }
    }

    fn change(&mut self, now_ns: u64, change: Change) -> Result<(), NetworkMisuse> {
        match change {
            Change::Rates {
                host,
                uplink,
                downlink,
            } => {
                self.check_hosts(&[host])?;
                for (side, rate) in [(Side::Uplink, uplink), (Side::Downlink, downlink)] {
                    for transit in self.link(host, side).set_rate(rate) {
                        self.passed(now_ns, side, transit);
                    }
                }
            }
            Change::Loss { host, ppm } => {
                self.check_hosts(&[host])?;
                if ppm > MILLION {
                    return Err(NetworkMisuse::Probability { ppm });
                }
                self.hosts[host as usize].loss_ppm = ppm;
            }
            Change::Cut { cut, hosts } => {
                self.check_hosts(&hosts)?;
                self.cuts.cut(cut, hosts);
            }
            Change::Heal { cut } => self.cuts.heal(cut),
            Change::Hold { host } => {
                self.check_hosts(&[host])?;
                self.hosts[host as usize].held.get_or_insert_default();
            }
            Change::Release { host } => {
                self.check_hosts(&[host])?;
                let held = self.hosts[host as usize].held.take();
                for transit in held.into_iter().flatten() {
                    self.passed(now_ns, Side::Uplink, transit);
                }
            }
        }
        Ok(())
    }

    fn check_hosts(&self, named: &[u32]) -> Result<(), NetworkMisuse> {
        let hosts = self.hosts.len();
        match named.iter().find(|host| **host as usize >= hosts) {
            Some(host) => Err(NetworkMisuse::UnknownHost { host: *host, hosts }),
            None => Ok(()),
        }
    }

    /// Returns the next action for the driver, or `None` when there is none left.
    pub fn poll(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Latest time of the next call of [`Network::handle`]; `None` while no event is scheduled.
    pub fn next_timeout(&self) -> Option<u64> {
        self.due.peek().map(|Reverse(due)| due.at_ns)
    }

    /// Packets in the network: in queues, being sent, held, or on paths.
    pub fn held(&self) -> usize {
        let links = self.hosts.iter().map(|host| {
            let held = host.held.as_ref().map_or(0, Vec::len);
            host.uplink.len() + host.downlink.len() + held
        });
        links.sum::<usize>() + self.flying.len()
    }

    fn advance(&mut self, now_ns: u64) {
        while self.next_timeout().is_some_and(|at_ns| at_ns <= now_ns) {
            let Some(Reverse(due)) = self.due.pop() else {
                break;
            };
            match due.event {
                NetworkEvent::Sent(host, side) => self.sent(due.at_ns, host, side),
                NetworkEvent::Arrives => {
                    let transit = self.flying.remove(&due.seq);
                    let transit = transit.expect("put there with this arrival, removed only here");
                    if self.cuts.are_apart(transit.from, transit.to) {
                        self.outputs
                            .push_back(drop_of(due.at_ns, Why::Cut, transit));
                        continue;
                    }
                    self.offer(due.at_ns, transit.to, Side::Downlink, transit);
                }
            }
        }
        self.now_ns = now_ns;
    }

    /// Offers a packet to a host's link.
    fn offer(&mut self, now_ns: u64, host: u32, side: Side, transit: Transit<P>) {
        let len_bytes = transit.len_bytes;
        match self.link(host, side).offer(now_ns, len_bytes, transit) {
            Offered::Through(transit) => self.passed(now_ns, side, transit),
            Offered::Sending { until_ns } => {
                self.foresee(until_ns, NetworkEvent::Sent(host, side));
            }
            Offered::Waits => {}
            Offered::Full(transit) => {
                self.outputs
                    .push_back(drop_of(now_ns, Why::Full(side), transit));
            }
        }
    }

    /// Handles the end of a transmission; the link begins the next one.
    fn sent(&mut self, now_ns: u64, host: u32, side: Side) {
        let mut late = Vec::new();
        let (left, until_ns) = self
            .link(host, side)
            .sent(now_ns, |transit| late.push(transit));
        let late = late
            .into_iter()
            .map(|transit| drop_of(now_ns, Why::Late(side), transit));
        self.outputs.extend(late);
        if let Some(until_ns) = until_ns {
            self.foresee(until_ns, NetworkEvent::Sent(host, side));
        }
        if let Some(transit) = left {
            self.passed(now_ns, side, transit);
        }
    }

    /// Handles a packet that has left a link: puts it on its path, or delivers it.
    fn passed(&mut self, now_ns: u64, side: Side, transit: Transit<P>) {
        if side == Side::Downlink {
            let Transit { to, packet, .. } = transit;
            let at_ns = now_ns;
            self.outputs
                .push_back(Output::Deliver { to, at_ns, packet });
            return;
        }
        let sender = &mut self.hosts[transit.from as usize];
        if let Some(held) = &mut sender.held {
            return held.push(transit);
        }
        if self.rng.happens(sender.loss_ppm) {
            return self.outputs.push_back(drop_of(now_ns, Why::Lost, transit));
        }
        let path = self.paths.between(transit.from, transit.to);
        let arrivals = self.arrivals.entry((transit.from, transit.to)).or_default();
        match arrivals.next(now_ns, path, &mut self.rng) {
            Some(at_ns) => {
                let seq = self.foresee(at_ns, NetworkEvent::Arrives);
                self.flying.insert(seq, transit);
            }
            None => self.outputs.push_back(drop_of(now_ns, Why::Lost, transit)),
        }
    }

    fn foresee(&mut self, at_ns: u64, event: NetworkEvent) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.due.push(Reverse(ScheduledEvent { at_ns, seq, event }));
        seq
    }

    fn link(&mut self, host: u32, side: Side) -> &mut Shaper<Transit<P>> {
        let host = &mut self.hosts[host as usize];
        match side {
            Side::Uplink => &mut host.uplink,
            Side::Downlink => &mut host.downlink,
        }
    }
}

fn drop_of<P>(at_ns: u64, why: Why, transit: Transit<P>) -> Output<P> {
    let Transit {
        from, to, packet, ..
    } = transit;
    Output::Dropped(Dropped {
        from,
        to,
        at_ns,
        why,
        packet,
    })
}
