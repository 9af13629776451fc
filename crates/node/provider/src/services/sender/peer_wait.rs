//! Messages that wait for a peer of their topic. They end once a peer has received them.

use std::collections::BTreeSet;
use std::time::Duration;

use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::Epoch;
use undertone_services::sending::{PeerWait, SendId};

use super::driver::SenderDriver;
use super::handle::SendFailure;
use crate::services::SenderRateLimit;
use undertone_network::command::Unsent;
use undertone_network::driver::fragments_of;

#[cfg(test)]
#[path = "tests/peer_wait.rs"]
mod tests;

const S: u64 = 1_000_000_000;

/// Maximum wait of a message in a network without epochs.
const WAIT_WITHOUT_EPOCH_NS: u64 = 600 * S;

impl SenderDriver {
    /// Accepts the parts of a message that no peer has received. With `restamp`, the node chose the timestamp and may
    /// choose a new one.
    pub(super) async fn wait_for_peer(
        &mut self,
        pubsub_topic: PubsubTopic,
        unsent: Unsent,
        restamp: bool,
    ) -> Result<SendId, SendFailure> {
        let Unsent {
            mut parts,
            is_delivered,
        } = unsent;
        let now_ns = self.now_ns();
        let until_ns = parts.first().map_or(now_ns, |first| {
            accepted_until_ns(self.settings.rate_limit, first, restamp, now_ns)
        });
        if !is_delivered && let [message] = &mut parts[..] {
            if restamp {
                message.timestamp = None;
            }
            parts = fragments_of(self.settings.fragment_bytes, message).unwrap_or(parts);
        }
        let wait = PeerWait {
            is_delivered,
            is_self_stamped: restamp,
            at_most: Duration::from_nanos(until_ns.saturating_sub(now_ns)),
        };
        self.refresh(BTreeSet::from([pubsub_topic.clone()])).await;
        let topic = pubsub_topic.to_string().into();
        let now = self.clock.now();
        Ok(self.machine.wait_for_peer(now, topic, parts, wait)?)
    }
}

/// Returns the time until which other nodes accept the message: the end of its epoch. If it cannot get a new timestamp,
/// also no later than the maximum age of its timestamp.
fn accepted_until_ns(
    rate_limit: Option<SenderRateLimit>,
    message: &WakuMessage,
    restamp: bool,
    now_ns: u64,
) -> u64 {
    let Some(limit) = rate_limit else {
        return now_ns.saturating_add(WAIT_WITHOUT_EPOCH_NS);
    };
    let epoch_s = limit.epoch_s.max(1);
    let stamp_ns = u64::try_from(message.timestamp_ns()).unwrap_or(0);
    let base_ns = if restamp { now_ns } else { stamp_ns };
    let epoch = Epoch::at(base_ns, epoch_s);
    let epochs = epoch.0.saturating_add(1);
    let ends_ns = epochs.saturating_mul(epoch_s.saturating_mul(S));
    if restamp {
        return ends_ns;
    }
    let gap_ns = u64::try_from(limit.max_clock_gap.as_nanos()).unwrap_or(u64::MAX);
    ends_ns.min(stamp_ns.saturating_add(gap_ns))
}
