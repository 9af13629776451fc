//! Flooding, as Waku v1 and floodsub do it: every subscriber gets every message.
//!
//! nim-eth's Waku v1 sends its queued messages every 300 ms
//! ([`flood_interval`](crate::Config::flood_interval)). By then it can skip peers that have sent the
//! message themselves in the meantime: most connections carry a message once instead of twice.

use super::interface::Strategy;
use super::send_plan::SendPlan;
use super::view::View;
use crate::rng::Rng;
use crate::types::PeerIx;

#[derive(Debug)]
pub(super) struct Flood;

impl Strategy for Flood {
    fn keeps_mesh(&self) -> bool {
        false
    }

    fn forward(&mut self, view: &View<'_>) -> Vec<PeerIx> {
        let subscribers = view.topic.subscribers.as_slice().iter().copied();
        subscribers
            .filter(|p| view.is_always_sent(*p) || view.is_publishable(*p))
            .collect()
    }

    fn publish(&mut self, view: &View<'_>, _len: usize, _rng: &mut Rng) -> Vec<PeerIx> {
        self.forward(view)
    }

    fn spread(
        &mut self,
        view: &View<'_>,
        _len: usize,
        receivers: Vec<PeerIx>,
        _rng: &mut Rng,
    ) -> SendPlan {
        let interval = view.parameters.flood_interval;
        let turns = view
            .now
            .since(view.started)
            .as_nanos()
            .checked_div(interval.as_nanos());
        let Some(turns) = turns else {
            return SendPlan::at_once(receivers);
        };
        let turn = u32::try_from(turns + 1).unwrap_or(u32::MAX);
        SendPlan {
            later: receivers,
            later_at: view.started.after(interval.saturating_mul(turn)),
            group: usize::MAX,
            ..SendPlan::at_once(Vec::new())
        }
    }
}
