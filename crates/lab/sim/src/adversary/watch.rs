//! What honest nodes see of adversaries while they run, second by second.

use undertone_gossip::{PeerIx, Topic};

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::outcome::WatchSecond;

/// Time from one look to the next, nanoseconds.
pub(crate) const EVERY_NS: u64 = 1_000_000_000;

/// Figures over the nodes of a thread, by second.
#[derive(Debug, Default)]
pub(crate) struct WatchTotals(Vec<WatchSecond>);

impl WatchTotals {
    fn at(&mut self, now_ns: u64) -> &mut WatchSecond {
        let second = (now_ns / EVERY_NS) as usize;
        while self.0.len() <= second {
            self.0
                .push(WatchSecond::new(self.0.len() as u64 * EVERY_NS));
        }
        &mut self.0[second]
    }

    /// Adds the figures of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        for second in &other.0 {
            self.at(second.at_ns).add(second);
        }
    }

    pub(crate) fn into_seconds(self) -> Vec<WatchSecond> {
        self.0
    }
}

impl Node {
    /// Looks at the scores and meshes of the node, and comes back a second later.
    pub(crate) fn watch(&mut self, step: &mut Step<'_>) {
        self.schedule_own(step, step.now_ns + EVERY_NS, Event::Watch);
        let Some(relay) = &self.relay else { return };
        let router = relay.router();
        let second = step.scratch.watch.at(step.now_ns);
        let first = step.world.first_adversary();
        for (conn, end) in (0..).zip(step.world.ends(self.id)) {
            let peer = PeerIx(conn);
            if !router.is_connected(peer) {
                continue;
            }
            let score = router.score(peer);
            match end.remote >= first {
                true => second.lowest_adversary_score = second.lowest_adversary_score.min(score),
                false => second.honest_below_zero += u64::from(score < 0.0),
            }
        }
        for topic in step.world.joined(self.id) {
            let topic = Topic::new(&step.world.topics[usize::from(topic)].to_string());
            for peer in router.mesh(&topic) {
                let remote = step.world.ends(self.id)[peer.0 as usize].remote;
                match remote >= first {
                    true => second.adversaries_in_meshes += 1,
                    false => second.honest_in_meshes += 1,
                }
            }
        }
    }
}
