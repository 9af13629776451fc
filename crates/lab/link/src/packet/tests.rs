//! Tests of the network in virtual time.

mod changes;
mod codel;
mod conservation;
mod links;
mod naive;
mod paths;

use super::*;

pub(super) const MS: u64 = 1_000_000;

pub(super) fn mbit(mbit: u64) -> Rate {
    Rate::mbit_per_s(mbit).expect("a rate that tests ask for")
}

/// Result of a test network: its deliveries and drops.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// Time and number of each delivered packet.
    pub(super) delivered: Vec<(u64, usize)>,
    /// Time, cause and number of each dropped packet.
    pub(super) dropped: Vec<(u64, Why, usize)>,
}

/// A packet that a test sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Send {
    pub(super) at_ns: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) len_bytes: u32,
}

/// Sends the packets, numbered from 0, and runs until the network is empty.
pub(super) fn run(network: &mut Network<usize>, sends: &[Send]) -> Log {
    let mut log = Log::default();
    for (packet, send) in sends.iter().enumerate() {
        drain_until(network, send.at_ns, &mut log);
        let Send {
            at_ns,
            from,
            to,
            len_bytes,
        } = *send;
        network
            .handle(
                at_ns,
                Input::Packet {
                    from,
                    to,
                    len_bytes,
                    packet,
                },
            )
            .unwrap();
        drain(network, at_ns, &mut log);
    }
    drain_until(network, u64::MAX, &mut log);
    assert_eq!(network.held(), 0);
    log
}

fn drain_until(network: &mut Network<usize>, until_ns: u64, log: &mut Log) {
    while let Some(at_ns) = network.next_timeout().filter(|at_ns| *at_ns <= until_ns) {
        network.handle(at_ns, Input::Tick).unwrap();
        drain(network, at_ns, log);
    }
}

/// Asserts that outputs of a call on time are due at the time of the call.
fn drain(network: &mut Network<usize>, now_ns: u64, log: &mut Log) {
    while let Some(output) = network.poll() {
        match output {
            Output::Deliver { at_ns, packet, .. } => {
                assert_eq!(at_ns, now_ns);
                log.delivered.push((at_ns, packet));
            }
            Output::Dropped(dropped) => {
                assert_eq!(dropped.at_ns, now_ns);
                log.dropped.push((now_ns, dropped.why, dropped.packet));
            }
        }
    }
}

/// Returns `count` packets from host 0 to host 1 at the same time.
pub(super) fn volley(at_ns: u64, count: usize, len_bytes: u32) -> Vec<Send> {
    vec![
        Send {
            at_ns,
            from: 0,
            to: 1,
            len_bytes
        };
        count
    ]
}
