//! Staggered sending: copies of a large message leave a few at a time, so that an IDONTWANT that
//! arrives meanwhile saves those that still wait.
//!
//! nim-libp2p's experiments let two large copies be under way at once; here two leave every
//! [`gap`](crate::LargeMessages::gap), whatever the transport has taken, which needs no word from it.

use super::{Sending, Strategy, View};
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct Staggered;

impl Strategy for Staggered {
    fn spread(
        &self,
        view: &View<'_>,
        len: usize,
        receivers: Vec<PeerIx>,
        rng: &mut Rng,
    ) -> Sending {
        let (mut waiting, mut now) = view.by_agreement(len, receivers);
        // By chance, so that no neighbour is always last.
        rng.shuffle(&mut waiting);
        let large = &view.config.large;
        now.extend(waiting.drain(..large.group.min(waiting.len())));
        Sending {
            later: waiting,
            later_at: view.now.after(large.gap),
            group: large.group,
            ..Sending::at_once(now)
        }
    }
}
