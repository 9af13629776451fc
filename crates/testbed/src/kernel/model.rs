//! Simulation of the same measurement in virtual time, with the simulator's TCP.

use std::collections::BTreeMap;

use undertone_link::{
    Arrival, ConnIx, Host, Input, Misuse, Output, Priority, Profile, QueueDiscipline, StackConfig,
};

use super::measure::{QUEUE_MAX_BYTES, pause};
use super::{Case, Moment};

const CONN: ConnIx = ConnIx(0);
const SENDER: usize = 0;

/// Simulates the milliseconds from the write to the last byte read, in the order of
/// [`Moment::ALL`], by [`undertone_link`] with the profile [`Profile::LINUX`].
pub fn simulated_ms(case: &Case) -> [f64; 3] {
    let mut pair = Pair::new(case).expect("two new hosts take a connection");
    let mut last_ns = 0;
    Moment::ALL.map(|moment| {
        let pause_ns = u64::try_from(pause(moment, case).as_nanos()).unwrap_or(u64::MAX);
        let write_ns = last_ns + pause_ns;
        let read = pair.message(write_ns, case.size_bytes as u64);
        last_ns = read.expect("a pair is driven as its contract says");
        (last_ns - write_ns) as f64 / 1e6
    })
}

/// Two hosts with one connection, and the packets between them.
struct Pair {
    hosts: [Host<()>; 2],
    now_ns: u64,
    /// Packets in transit, by time of arrival and order of sending.
    wire: BTreeMap<(u64, u64), (usize, Arrival<()>)>,
    sent: u64,
    /// Time at which the last message was completely read.
    read_ns: Option<u64>,
}

impl Pair {
    fn new(case: &Case) -> Result<Self, Misuse> {
        let rate = case.rate.as_bytes_per_s();
        let mut config = StackConfig::new(Profile::LINUX, rate, rate);
        config.queue = QueueDiscipline::Fifo {
            max_bytes: QUEUE_MAX_BYTES,
        };
        let mut hosts = [Host::new(config, [1; 32]), Host::new(config, [2; 32])];
        let delay_ns = case.one_way_ms.saturating_mul(1_000_000);
        for (host, remote) in hosts.iter_mut().zip([1, 0]) {
            let connect = Input::Connect {
                conn: CONN,
                remote,
                remote_conn: CONN,
                delay_ns,
                reverse_delay_ns: delay_ns,
                loss: 0.0,
                sent_before: None,
            };
            host.handle(0, connect)?;
        }
        Ok(Self {
            hosts,
            now_ns: 0,
            wire: BTreeMap::new(),
            sent: 0,
            read_ns: None,
        })
    }

    /// Writes a message at its time and runs until it was read; returns the time of that.
    fn message(&mut self, write_ns: u64, bytes: u64) -> Result<u64, Misuse> {
        while self.next_ns().is_some_and(|at_ns| at_ns <= write_ns) {
            self.step()?;
        }
        self.now_ns = write_ns;
        self.read_ns = None;
        let write = Input::Write {
            conn: CONN,
            frame: (),
            bytes,
            priority: Priority::Normal,
        };
        self.input(SENDER, write)?;
        loop {
            if let Some(read_ns) = self.read_ns {
                return Ok(read_ns);
            }
            self.step()?;
        }
    }

    fn next_ns(&self) -> Option<u64> {
        let arrives = self.wire.first_key_value().map(|((at_ns, _), _)| *at_ns);
        let timers = self.hosts.iter().filter_map(Host::next_timeout);
        timers.chain(arrives).min()
    }

    /// Processes the next event: an arrival before the timers of the same time.
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
                Output::Received { .. } => self.read_ns = Some(self.now_ns),
                Output::Begun { .. } | Output::Writable(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
