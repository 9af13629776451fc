//! Reduced sending: the full copy goes to some peers of the mesh, and the id to the others, which request
//! the message if they do not get it from elsewhere (nim-libp2p's experiment sends `d_low - 1` copies).
//!
//! With one copy and no IWANT delay this is the lazy announcing that GossipSub v2.0 drafts, expressed
//! with IHAVE and IWANT.

use super::interface::Strategy;
use super::send_plan::SendPlan;
use super::view::View;
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct Reduced;

impl Strategy for Reduced {
    fn spread(
        &mut self,
        view: &View<'_>,
        len: usize,
        receivers: Vec<PeerIx>,
        rng: &mut Rng,
    ) -> SendPlan {
        let (mut ihave_only, mut now) = view.by_agreement(len, receivers);
        let push = view.parameters.large.push.saturating_sub(now.len());
        let push = push.min(ihave_only.len());
        rng.choose(&mut ihave_only, push);
        now.extend(ihave_only.drain(..push));
        SendPlan {
            ihave_only,
            ..SendPlan::at_once(now)
        }
    }
}
