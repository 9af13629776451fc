//! Staggered sending: copies of a large message are sent a few at a time, so that an IDONTWANT that arrives
//! in between saves the waiting copies.
//!
//! nim-libp2p's experiments keep two large copies in transit at once. Here a group is sent every
//! [`gap`](crate::LargeMessages::gap), regardless of the transport's progress, so no feedback from it is
//! needed.

use super::interface::Strategy;
use super::send_plan::SendPlan;
use super::view::View;
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct Staggered;

impl Strategy for Staggered {
    fn spread(
        &mut self,
        view: &View<'_>,
        len: usize,
        receivers: Vec<PeerIx>,
        rng: &mut Rng,
    ) -> SendPlan {
        let (mut waiting, mut now) = view.by_agreement(len, receivers);
        // Random order, so that no neighbour is always last.
        rng.shuffle(&mut waiting);
        let large = &view.parameters.large;
        now.extend(waiting.drain(..large.group.min(waiting.len())));
        SendPlan {
            later: waiting,
            later_at: view.now.after(large.gap),
            group: large.group,
            ..SendPlan::at_once(now)
        }
    }
}
