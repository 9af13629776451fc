//! Two simulated hosts with some connections and the packets in transit between them, in virtual time.

use std::collections::BTreeMap;

use undertone_link::{Arrival, ConnIx, Host, Input, Misuse, Output, Priority, StackConfig};

const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// Arrival of a message on one connection, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SimulatedArrival {
    /// Time at which the first bytes were read; 0 until they are.
    pub(crate) begun_ns: u64,
    /// Time at which the last byte was read; 0 until it is.
    pub(crate) done_ns: u64,
}

/// A sender and a receiver.
pub(crate) struct SimulatedPair {
    hosts: [Host<()>; 2],
    now_ns: u64,
    /// Packets in transit, by time of arrival and order of sending.
    wire: BTreeMap<(u64, u64), (usize, Arrival<()>)>,
    sent: u64,
    arrivals: Vec<SimulatedArrival>,
}

impl SimulatedPair {
    /// Connects a sender and a receiver, configured in this order.
    pub(crate) fn new(
        configs: [StackConfig; 2],
        delay_ns: u64,
        connections: u32,
    ) -> Result<Self, Misuse> {
        let [mut sender, mut receiver] = configs;
        for config in [&mut sender, &mut receiver] {
            config.begun_over_bytes = 0;
        }
        let mut hosts = [Host::new(sender, [1; 32]), Host::new(receiver, [2; 32])];
        for (host, remote) in hosts.iter_mut().zip([1, 0]) {
            for conn in (0..connections).map(ConnIx) {
                let connect = Input::Connect {
                    conn,
                    remote,
                    remote_conn: conn,
                    delay_ns,
                    reverse_delay_ns: delay_ns,
                    loss: 0.0,
                    sent_before: None,
                };
                host.handle(0, connect)?;
            }
        }
        Ok(Self {
            hosts,
            now_ns: 0,
            wire: BTreeMap::new(),
            sent: 0,
            arrivals: vec![SimulatedArrival::default(); connections as usize],
        })
    }

    /// Writes a message to all connections at a time, and runs until it has been read on all of them; returns
    /// its arrivals.
    pub(crate) fn message(
        &mut self,
        write_ns: u64,
        bytes: u64,
    ) -> Result<&[SimulatedArrival], Misuse> {
        while self.next_ns().is_some_and(|at_ns| at_ns <= write_ns) {
            self.step()?;
        }
        self.now_ns = write_ns;
        self.arrivals.fill(SimulatedArrival::default());
        for conn in (0..).map(ConnIx).take(self.arrivals.len()) {
            let write = Input::Write {
                conn,
                frame: (),
                bytes,
                priority: Priority::Normal,
            };
            self.input(SENDER, write)?;
        }
        while self.arrivals.iter().any(|arrival| arrival.done_ns == 0) {
            self.step()?;
        }
        Ok(&self.arrivals)
    }

    fn next_ns(&self) -> Option<u64> {
        let arrives = self.wire.first_key_value().map(|((at_ns, _), _)| *at_ns);
        let timers = self.hosts.iter().filter_map(Host::next_timeout);
        timers.chain(arrives).min()
    }

    /// Processes the next event; arrivals precede timers of the same time.
    fn step(&mut self) -> Result<(), Misuse> {
        let next_ns = self.next_ns();
        let next_ns = next_ns.expect("a message that has not been read is on its way");
        self.now_ns = next_ns;
        if let Some(first) = self.wire.first_entry()
            && first.key().0 == next_ns
        {
            let (to, arrival) = first.remove();
            return self.input(to, Input::Arrival(arrival));
        }
        let due = |host: &Host<()>| host.next_timeout() == Some(next_ns);
        match self.hosts.iter().position(due) {
            Some(host) => self.input(host, Input::Tick),
            None => Ok(()),
        }
    }

    fn input(&mut self, host: usize, input: Input<()>) -> Result<(), Misuse> {
        self.hosts[host].handle(self.now_ns, input)?;
        while let Some(output) = self.hosts[host].poll() {
            match output {
                Output::Send { to, at_ns, arrival } => {
                    self.sent += 1;
                    self.wire.insert((at_ns, self.sent), (to as usize, arrival));
                }
                Output::Begun { conn, .. } if host == RECEIVER => {
                    self.arrivals[conn.0 as usize].begun_ns = self.now_ns;
                }
                Output::Received { conn, .. } if host == RECEIVER => {
                    self.arrivals[conn.0 as usize].done_ns = self.now_ns;
                }
                Output::Begun { .. } | Output::Received { .. } | Output::Writable(_) => {}
            }
        }
        Ok(())
    }
}
