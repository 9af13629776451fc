//! Faults of a node.

use undertone_link as link;
use undertone_relay::Input;

use crate::node::{Bench, Node, What};
use crate::scenario::FaultKind;
use crate::world::{UNIX_NS_AT_ZERO, World};

impl Node {
    pub(super) fn fault(&mut self, world: &World, bench: &mut Bench, now_ns: u64, number: u32) {
        match world.scenario.faults[number as usize].kind {
            FaultKind::Crash { noticed_after_ns } => {
                self.crash(world, bench, now_ns, noticed_after_ns);
            }
            FaultKind::Leave => {
                for topic in &world.topics {
                    let leave = Input::Unsubscribe(topic.clone());
                    self.relay_input(world, bench, now_ns, leave);
                }
                for place in 0..world.ends[self.id as usize].len() {
                    self.hang_up(world, bench, now_ns, place as u32);
                }
                self.stop(bench);
            }
            // A join is a start time in the plan; a partition is applied where packets arrive.
            FaultKind::Join | FaultKind::Partition { .. } => {}
            FaultKind::Slow { factor } => {
                let scaled = |rate: u64| (rate as f64 * factor) as u64;
                let (up, down) = world.rates(self.id);
                let rates = link::Input::Rates {
                    uplink_bytes_per_s: scaled(up),
                    downlink_bytes_per_s: scaled(down),
                };
                self.host_input(world, bench, now_ns, rates);
            }
            FaultKind::Lossy { loss } => {
                self.host_input(world, bench, now_ns, link::Input::Loss(loss));
            }
            FaultKind::ClockSkew { by_ns } => {
                let unix_ns_at_zero = UNIX_NS_AT_ZERO.saturating_add_signed(by_ns);
                self.relay_input(world, bench, now_ns, Input::ClockSet { unix_ns_at_zero });
            }
            FaultKind::Spam { interval_ns } => {
                self.spam(world, bench, now_ns, interval_ns, 0);
            }
            FaultKind::Silent => self.is_silent = true,
        }
    }

    /// Stops the process without notice; the machine drops packets that arrive for it.
    fn crash(&mut self, world: &World, bench: &mut Bench, now_ns: u64, noticed_after_ns: u64) {
        for (place, end) in world.ends[self.id as usize].iter().enumerate() {
            let conn = link::ConnIx(place as u32);
            if self.host.is_open(conn) {
                let soonest_ns = world.delay_ns(self.id, end.remote);
                let at_ns = now_ns + noticed_after_ns.max(soonest_ns);
                self.cause(bench, at_ns, end.remote, What::Closed(end.remote_place));
                self.host_input(world, bench, now_ns, link::Input::Close(conn));
            }
        }
        self.stop(bench);
    }

    fn stop(&mut self, bench: &mut Bench) {
        self.relay = None;
        self.queues.clear();
        self.coming.clear();
        self.to_connect.clear();
        bench.relay_outputs.clear();
    }
}
