//! Guard around a custom strategy: whatever it returns, the protocol is never violated.

use std::collections::BTreeSet;

use super::interface::Strategy;
use super::send_plan::SendPlan;
use super::view::View;
use crate::rng::Rng;
use crate::types::PeerIx;

/// Custom strategy whose answers are checked.
#[derive(Debug)]
pub(super) struct Checked {
    strategy: Box<dyn Strategy>,
    keeps_mesh: bool,
}

impl Checked {
    pub(super) fn new(strategy: Box<dyn Strategy>) -> Self {
        Self {
            keeps_mesh: strategy.keeps_mesh(),
            strategy,
        }
    }
}

impl Strategy for Checked {
    fn keeps_mesh(&self) -> bool {
        self.keeps_mesh
    }

    fn forward(&mut self, view: &View<'_>) -> Vec<PeerIx> {
        subscribed(view, self.strategy.forward(view))
    }

    fn publish(&mut self, view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
        subscribed(view, self.strategy.publish(view, len, rng))
    }

    /// Keeps each receiver in only one place, the first of `now`, `later` and `ihave_only`. Ids go only to peers
    /// that understand them.
    fn spread(
        &mut self,
        view: &View<'_>,
        len: usize,
        receivers: Vec<PeerIx>,
        rng: &mut Rng,
    ) -> SendPlan {
        let mut left: BTreeSet<PeerIx> = receivers.iter().copied().collect();
        let mut plan = self.strategy.spread(view, len, receivers, rng);
        plan.now.retain(|peer| left.remove(peer));
        plan.later.retain(|peer| left.remove(peer));
        plan.later_at = plan.later_at.max(view.now);
        plan.ihave_only.retain(|peer| {
            let is_able = view.features(*peer).is_some_and(|features| features.mesh);
            is_able && left.remove(peer)
        });
        plan
    }

    fn stem(&mut self, view: &View<'_>, from: Option<PeerIx>, rng: &mut Rng) -> Option<PeerIx> {
        let next = self.strategy.stem(view, from, rng)?;
        view.understands_stem(next).then_some(next)
    }
}

/// Keeps the first occurrence of each peer that is subscribed to the topic.
fn subscribed(view: &View<'_>, mut receivers: Vec<PeerIx>) -> Vec<PeerIx> {
    let mut left: BTreeSet<PeerIx> = view.subscribers().iter().copied().collect();
    receivers.retain(|peer| left.remove(peer));
    receivers
}
