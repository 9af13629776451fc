//! Faults of a node.

use undertone_compact::FewMap;
use undertone_link as link;
use undertone_relay::Input;

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::scenario::FaultKind;
use crate::world::UNIX_NS_AT_ZERO;

impl Node {
    pub(super) fn fault(&mut self, step: &mut Step<'_>, number: u32) {
        match step.world.scenario.faults[number as usize].kind {
            FaultKind::Crash { noticed_after_ns } => {
                self.crash(step, noticed_after_ns);
            }
            FaultKind::Leave => {
                for topic in step.world.joined(self.id) {
                    let topic = step.world.topics[usize::from(topic)].clone();
                    self.relay_input(step, Input::Unsubscribe(topic));
                }
                for conn in 0..step.world.ends(self.id).len() {
                    self.hang_up(step, link::ConnIx(conn as u32));
                }
                self.stop_service(step, 0);
                self.stop(step);
            }
            // A join is a start time in the plan; a partition is applied where packets arrive.
            FaultKind::Join | FaultKind::Partition { .. } => {}
            FaultKind::Slow { factor } => {
                let scaled = |rate: u64| (rate as f64 * factor) as u64;
                let (up, down) = step.world.rates(self.id);
                let rates = link::Input::Rates {
                    uplink_bytes_per_s: scaled(up),
                    downlink_bytes_per_s: scaled(down),
                };
                self.host_input(step, rates);
            }
            FaultKind::Lossy { loss } => {
                self.host_input(step, link::Input::Loss(loss));
            }
            FaultKind::ClockSkew { by_ns } => {
                let unix_ns_at_zero = UNIX_NS_AT_ZERO.saturating_add_signed(by_ns);
                self.relay_input(step, Input::ClockSet { unix_ns_at_zero });
            }
            FaultKind::Spam { interval_ns } => {
                self.spam(step, interval_ns, 0);
            }
            FaultKind::Silent => self.is_silent = true,
        }
    }

    /// Stops the process without notice; the machine drops packets that arrive for it.
    fn crash(&mut self, step: &mut Step<'_>, noticed_after_ns: u64) {
        for (conn, end) in step.world.ends(self.id).iter().enumerate() {
            let conn = link::ConnIx(conn as u32);
            if self.host.is_open(conn) {
                let soonest_ns = step.world.delay_ns(self.id, end.remote);
                let at_ns = step.now_ns + noticed_after_ns.max(soonest_ns);
                self.schedule(step, at_ns, end.remote, Event::Closed(end.remote_conn));
                self.host_input(step, link::Input::Close(conn));
            }
        }
        self.stop_service(step, noticed_after_ns);
        self.stop(step);
    }

    pub(super) fn stop(&mut self, step: &mut Step<'_>) {
        self.relay = None;
        self.finder = None;
        self.queues = FewMap::new();
        self.in_transit = FewMap::new();
        self.to_connect.clear();
        step.scratch.relay_outputs.clear();
    }
}
