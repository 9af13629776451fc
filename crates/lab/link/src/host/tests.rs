//! Tests of two hosts joined by a wire, in virtual time.

use std::collections::BTreeMap;

use super::*;
use crate::profile::SendBuffer;

mod buffer;
mod flow;
mod linux;
mod recorded;
mod shadow;

const MS: u64 = 1_000_000;
const MBIT_100: u64 = 12_500_000;
const CONN: ConnIx = ConnIx(0);

pub(super) fn config(profile: Profile) -> StackConfig {
    StackConfig {
        profile,
        uplink_bytes_per_s: MBIT_100,
        downlink_bytes_per_s: MBIT_100,
        unlimited_until_ns: 0,
        queue: QueueDiscipline::Fifo {
            max_bytes: u64::MAX >> 1,
        },
        loss: 0.0,
        jitter_ns: 0,
        setup_packets: 0,
        begun_over_bytes: u64::MAX,
        piece_bytes: 0,
        flow_control: None,
    }
}

/// Two hosts with one connection between them.
pub(super) struct Pair {
    pub(super) hosts: [Host<u32>; 2],
    pub(super) now: u64,
    wire: BTreeMap<(u64, u64), (usize, Arrival<u32>)>,
    sent: u64,
    /// Received frames as (time, host, frame).
    pub(super) received: Vec<(u64, usize, u32)>,
    /// Announced long frames as (time, host, bytes).
    pub(super) begun: Vec<(u64, usize, u64)>,
    pub(super) writable: Vec<u64>,
}

impl Pair {
    pub(super) fn new(config: StackConfig, delay_ns: u64) -> Self {
        let mut hosts = [Host::new(config, [1; 32]), Host::new(config, [2; 32])];
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
            host.handle(0, connect).unwrap();
        }
        Self {
            hosts,
            now: 0,
            wire: BTreeMap::new(),
            sent: 0,
            received: Vec::new(),
            begun: Vec::new(),
            writable: Vec::new(),
        }
    }

    pub(super) fn input(&mut self, host: usize, input: Input<u32>) {
        self.hosts[host].handle(self.now, input).unwrap();
        while let Some(output) = self.hosts[host].poll() {
            match output {
                Output::Send { to, at_ns, arrival } => {
                    self.sent += 1;
                    let key = (at_ns, self.sent);
                    self.wire.insert(key, (to as usize, arrival));
                }
                Output::Begun { bytes, .. } => self.begun.push((self.now, host, bytes)),
                Output::Received { frame, .. } => self.received.push((self.now, host, frame)),
                Output::Writable(_) => self.writable.push(self.now),
            }
        }
    }

    pub(super) fn write(&mut self, host: usize, frame: u32, bytes: u64) {
        self.write_with(host, frame, bytes, Priority::Normal);
    }

    pub(super) fn write_with(&mut self, host: usize, frame: u32, bytes: u64, priority: Priority) {
        let conn = CONN;
        self.input(
            host,
            Input::Write {
                conn,
                frame,
                bytes,
                priority,
            },
        );
    }

    pub(super) fn run_until(&mut self, end_ns: u64) {
        loop {
            let arrives = self.wire.first_key_value().map(|((at, _), _)| *at);
            let ticks = [0, 1].map(|h| self.hosts[h].next_timeout());
            let times = [arrives, ticks[0], ticks[1]];
            let Some(next) = times.into_iter().flatten().min().filter(|at| *at <= end_ns) else {
                break;
            };
            self.now = next;
            if arrives == Some(next) {
                let (_, (to, arrival)) = self.wire.pop_first().unwrap();
                self.input(to, Input::Arrival(arrival));
            } else {
                let host = usize::from(ticks[0] != Some(next));
                self.input(host, Input::Tick);
            }
        }
        self.now = end_ns;
    }

    /// Postpones what would arrive in the second half of a second to the end of that second.
    fn hold_up(&mut self) {
        for ((at_ns, number), arrival) in std::mem::take(&mut self.wire) {
            let is_held = at_ns % (1_000 * MS) > 500 * MS;
            let end_ns = at_ns.next_multiple_of(1_000 * MS);
            self.wire
                .insert((if is_held { end_ns } else { at_ns }, number), arrival);
        }
    }

    pub(super) fn last_received_ns(&self) -> u64 {
        self.received.last().unwrap().0
    }
}

fn lossy(loss: f64) -> StackConfig {
    StackConfig {
        loss,
        ..config(Profile::LINUX)
    }
}

#[test]
fn a_frame_arrives_after_its_delay_and_its_serialisation() {
    let mut pair = Pair::new(config(Profile::LINUX), 20 * MS);
    pair.write(0, 7, 1448);
    pair.run_until(1000 * MS);
    assert_eq!(pair.received, [(20 * MS + 120_000, 1, 7)]);
}

#[test]
fn frames_of_one_connection_keep_their_order_but_urgent_ones_pass_those_that_wait() {
    let mut pair = Pair::new(config(Profile::LINUX), 5 * MS);
    pair.write(0, 0, 500_000);
    pair.write(0, 1, 500_000);
    pair.write_with(0, 2, 100, Priority::Urgent);
    pair.write(0, 3, 100);
    pair.run_until(5000 * MS);
    let order: Vec<_> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
    assert_eq!(order, [0, 2, 1, 3], "0 had begun, 1 had not");
}

#[test]
fn what_is_lost_is_sent_again_and_nothing_overtakes_it() {
    for (seed, loss) in [(0u32, 0.01), (1, 0.05), (2, 0.3)] {
        let mut pair = Pair::new(lossy(loss), 10 * MS);
        let frames = 200;
        for frame in 0..frames {
            let bytes = 200 + u64::from((frame + seed) * 977 % 30_000);
            pair.write(0, frame, bytes);
        }
        pair.run_until(600_000 * MS);
        let order: Vec<_> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
        assert_eq!(order, (0..frames).collect::<Vec<_>>(), "loss {loss}");
        let sent = pair.hosts[0].totals();
        assert!(sent.repaired_packets > 0);
        let arrived = pair.hosts[1].totals().received_packets;
        assert_eq!(sent.sent_packets, arrived + sent.lost_packets);
    }
}

/// A queue may drop packets of a burst that was acknowledged in part before, or all that was in flight. Neither may block
/// the connection for ever.
#[test]
fn no_drop_of_a_queue_blocks_a_connection() {
    for downlink_bytes_per_s in [60_000, 250_000] {
        let mut pair = Pair::new(
            StackConfig {
                downlink_bytes_per_s,
                queue: QueueDiscipline::CoDel {
                    target_ns: 5 * MS,
                    interval_ns: 100 * MS,
                },
                ..config(Profile::LINUX)
            },
            20 * MS,
        );
        let frames = 400;
        for frame in 0..frames {
            pair.write(0, frame, 200 + u64::from(frame * 7919 % 90_000));
            pair.run_until(pair.now + u64::from(frame % 7) * 50 * MS);
        }
        pair.run_until(pair.now + 3_600_000 * MS);
        let order: Vec<_> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
        assert_eq!(order, (0..frames).collect::<Vec<_>>());
        assert!(pair.hosts[0].totals().repaired_packets > 0);
        let sender = pair.hosts[0].get(CONN.0).unwrap();
        assert!(!sender.window.awaits(), "{:?}", sender.window);
    }
}

/// What a partition holds up arrives all at once when it ends, and the short retransmission of some packets then passes
/// before the long burst with the others.
#[test]
fn a_retransmission_may_overtake_its_burst() {
    let mut pair = Pair::new(lossy(0.05), 10 * MS);
    let frames = 2_000;
    for frame in 0..frames {
        pair.write(0, frame, 20_000);
        // Shorter than the delay, so that nothing arrives in between.
        for _ in 0..40 {
            pair.hold_up();
            pair.run_until(pair.now + MS);
        }
    }
    pair.run_until(600_000 * MS);
    let order: Vec<_> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
    assert_eq!(order, (0..frames).collect::<Vec<_>>());
}

#[test]
fn a_long_frame_is_announced_once_by_its_first_packets() {
    let announced = |config: StackConfig| {
        let config = StackConfig {
            begun_over_bytes: 20_000,
            ..config
        };
        let mut pair = Pair::new(config, 10 * MS);
        for frame in 0..60 {
            pair.write(0, frame, 1_000 * u64::from(frame + 1));
        }
        pair.run_until(600_000 * MS);
        assert_eq!(pair.received.len(), 60);
        let mut lengths: Vec<_> = pair.begun.iter().map(|(.., bytes)| *bytes).collect();
        lengths.sort_unstable();
        let long: Vec<_> = (21..=60).map(|kb| kb * 1_000).collect();
        assert_eq!(lengths, long);
        for (begun_ns, _, bytes) in pair.begun {
            let (whole_ns, ..) = pair.received[bytes as usize / 1_000 - 1];
            assert!(begun_ns < whole_ns, "{bytes}: {begun_ns}, {whole_ns}");
        }
    };
    announced(config(Profile::LINUX));
    announced(lossy(0.2));
}

#[test]
fn loss_costs_a_round_trip_or_a_time_out() {
    let mut clean = Pair::new(lossy(0.0), 50 * MS);
    let mut lossy = Pair::new(lossy(0.02), 50 * MS);
    for pair in [&mut clean, &mut lossy] {
        pair.write(0, 0, 200_000);
        pair.run_until(60_000 * MS);
    }
    let late = lossy.last_received_ns() - clean.last_received_ns();
    assert!(late >= 100 * MS, "{late}");
}

#[test]
fn a_full_socket_says_when_it_takes_more() {
    let mut small = config(Profile::LINUX);
    small.profile.send_buffer = SendBuffer::Fixed { bytes: 50_000 };
    let mut pair = Pair::new(small, 10 * MS);
    assert!(pair.hosts[0].is_writable(CONN));
    pair.write(0, 0, 200_000);
    assert!(!pair.hosts[0].is_writable(CONN));
    pair.run_until(10_000 * MS);
    assert_eq!(pair.writable.len(), 1);
    assert!(pair.hosts[0].is_writable(CONN));
}

#[test]
fn a_silence_costs_linux_its_window_and_shadow_nothing() {
    for (profile, keeps) in [(Profile::LINUX, false), (Profile::SHADOW, true)] {
        let mut pair = Pair::new(config(profile), 50 * MS);
        pair.write(0, 0, 500_000);
        pair.run_until(10_000 * MS);
        let start = pair.now;
        pair.write(0, 1, 500_000);
        pair.run_until(start + 10_000 * MS);
        let took = pair.last_received_ns() - start;
        assert_eq!(took < 100 * MS, keeps, "{took}");
    }
}

#[test]
fn a_closed_connection_carries_nothing_more() {
    let mut pair = Pair::new(config(Profile::LINUX), 10 * MS);
    pair.write(0, 0, 100_000);
    pair.input(1, Input::Close(CONN));
    pair.run_until(5_000 * MS);
    assert!(pair.received.is_empty());
    let write = Input::Write {
        conn: CONN,
        frame: 1,
        bytes: 1,
        priority: Priority::Normal,
    };
    let refused = pair.hosts[1].handle(pair.now, write);
    assert_eq!(refused, Err(Misuse::NotOpen(CONN)));
    let (sent, here) = (pair.hosts[0].totals(), pair.hosts[1].totals());
    assert_eq!(
        sent.sent_packets,
        here.received_packets + here.orphaned_packets
    );
}

#[test]
fn jitter_delays_but_keeps_the_order() {
    let jittery = StackConfig {
        jitter_ns: 40 * MS,
        ..config(Profile::LINUX)
    };
    let mut pair = Pair::new(jittery, 10 * MS);
    for frame in 0..50 {
        pair.write(0, frame, 100);
        pair.run_until(pair.now + MS);
    }
    pair.run_until(1_000 * MS);
    let order: Vec<_> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
    assert!(pair.received[0].0 > 10 * MS + 20_000);
}
