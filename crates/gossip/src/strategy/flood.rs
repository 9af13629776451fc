//! Flooding, as Waku v1 and floodsub do it: every subscriber gets every message.

use super::{Strategy, View};
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct Flood;

impl Strategy for Flood {
    fn keeps_mesh(&self) -> bool {
        false
    }

    fn forward(&self, view: &View<'_>) -> Vec<PeerIx> {
        let subscribers = view.topic.subscribers.as_slice().iter().copied();
        subscribers
            .filter(|p| view.is_always_sent(*p) || view.is_publishable(*p))
            .collect()
    }

    fn publish(&self, view: &View<'_>, _len: usize, _rng: &mut Rng) -> Vec<PeerIx> {
        self.forward(view)
    }
}
