//! Whether the chat is connected and may publish, in plain words.

use undertone_node::command::{EpochAllowance, MetricsSnapshot};
use undertone_node::services::LightStatus;

#[cfg(test)]
#[path = "tests/chat_status.rs"]
mod tests;

/// Status of the chat in its network at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChatStatus {
    /// Number of connected peers.
    pub(crate) peers: usize,
    /// Connected peers that carry the room's shard; without relay, the filter peers that push the room's
    /// messages.
    pub(crate) carriers: usize,
    /// Whether peers to connect to are configured.
    pub(crate) has_peers_to_dial: bool,
    /// Whether the node may publish.
    pub(crate) publishing: PublishAllowance,
}

/// Whether and how the node may publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PublishAllowance {
    /// The network has no rate limit.
    Unlimited,
    /// The node cannot make proofs.
    Forbidden {
        /// Reason, in plain words.
        reason: String,
    },
    /// The node does not relay: it depends on peers, which may ask for a proof.
    ThroughPeers,
    /// The node is a member.
    Limited(Left),
}

/// Remaining messages of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    /// Upper bound on the remaining messages: the node's count, or an estimate while it cannot be read.
    pub(crate) at_most: u64,
    /// Messages per epoch.
    pub(crate) limit: u64,
    /// Time to the next epoch, seconds.
    pub(crate) epoch_ends_in_s: u64,
}

impl ChatStatus {
    /// Derives the status from the node's metrics.
    pub(crate) fn of(
        metrics: &MetricsSnapshot,
        pubsub_topic: &str,
        has_peers_to_dial: bool,
        left: Option<Left>,
    ) -> Self {
        let topic = metrics.topics.iter().find(|one| one.topic == pubsub_topic);
        let publishing = match (&metrics.rln, left) {
            (Some(rln), _) if !rln.may_publish => PublishAllowance::Forbidden {
                reason: "this node has no membership; `undertone rln keygen` and `undertone rln register` \
                         make one"
                    .to_owned(),
            },
            (Some(rln), Some(left)) => match &rln.refusal {
                // If nothing is left, that itself is the reason, and needs no other message.
                Some(reason) if left.at_most > 0 => PublishAllowance::Forbidden {
                    reason: reason.clone(),
                },
                _ => PublishAllowance::Limited(left),
            },
            _ => PublishAllowance::Unlimited,
        };
        Self {
            peers: metrics.peers,
            carriers: topic.map_or(0, |topic| topic.subscribers),
            has_peers_to_dial,
            publishing,
        }
    }

    /// Adapts the status to a node without relay.
    pub(crate) fn without_relay(&mut self, light: &LightStatus, pubsub_topic: &str) {
        self.carriers = light.filter_peers.get(pubsub_topic).copied().unwrap_or(0);
        if self.publishing == PublishAllowance::Unlimited {
            self.publishing = PublishAllowance::ThroughPeers;
        }
    }

    /// Describes the connection in plain words.
    pub(crate) fn connection(&self) -> String {
        let plural = |n: usize| if n == 1 { "peer" } else { "peers" };
        match (self.peers, self.carriers) {
            (0, _) if self.has_peers_to_dial => {
                "not connected: no peer answers; trying again".to_owned()
            }
            (0, _) => "not connected: no peers are configured (--static-peers), and none has come"
                .to_owned(),
            (peers, 0) => format!(
                "connected to {peers} {}, none of which carries this room",
                plural(peers)
            ),
            (peers, carriers) if peers == carriers => {
                format!("connected to {peers} {}", plural(peers))
            }
            (peers, carriers) => format!(
                "connected to {peers} {}, {carriers} of which carry this room",
                plural(peers)
            ),
        }
    }

    /// Describes the permission to publish in plain words, with the time left in the epoch.
    pub(crate) fn publishing(&self) -> String {
        match &self.publishing {
            PublishAllowance::Limited(left) => format!(
                "{}; the epoch ends in {} s",
                self.publishing_gist(),
                left.epoch_ends_in_s
            ),
            _ => self.publishing_gist(),
        }
    }

    /// Describes the permission to publish in plain words, without values that change every second.
    pub(crate) fn publishing_gist(&self) -> String {
        match &self.publishing {
            PublishAllowance::Unlimited => "no rate limit".to_owned(),
            PublishAllowance::ThroughPeers => "through lightpush peers".to_owned(),
            PublishAllowance::Forbidden { reason } => format!("read only: {reason}"),
            PublishAllowance::Limited(Left { at_most: 0, .. }) => {
                "no messages left in this epoch".to_owned()
            }
            PublishAllowance::Limited(left) => format!(
                "at most {} of {} messages left in this epoch",
                left.at_most, left.limit
            ),
        }
    }

    /// Whether a message sent now reaches anybody.
    pub(crate) fn is_connected(&self) -> bool {
        self.carriers > 0
    }
}

/// Count of the messages sent in the current epoch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageBudget {
    limit: u64,
    epoch_s: u64,
    /// Epoch to which `used` belongs.
    epoch: u64,
    used: u64,
}

impl MessageBudget {
    /// Creates a budget with the messages of a whole epoch.
    pub(crate) fn new(limit: u64, epoch_s: u64) -> Self {
        Self {
            limit,
            epoch_s: epoch_s.max(1),
            epoch: 0,
            used: 0,
        }
    }

    /// Counts a message that used a proof.
    pub(crate) fn spend(&mut self, now_s: u64) {
        self.enter(now_s);
        self.used = self.used.saturating_add(1);
    }

    /// Adopts the node's count of remaining messages and the limit of its membership.
    pub(crate) fn learn(&mut self, now_s: u64, allowance: EpochAllowance) {
        self.enter(now_s);
        self.limit = allowance.limit;
        self.used = allowance.limit.saturating_sub(allowance.left);
    }

    /// Returns the remaining messages.
    pub(crate) fn left(&mut self, now_s: u64) -> Left {
        self.enter(now_s);
        Left {
            at_most: self.limit.saturating_sub(self.used),
            limit: self.limit,
            epoch_ends_in_s: self.epoch_s - now_s % self.epoch_s,
        }
    }

    fn enter(&mut self, now_s: u64) {
        let epoch = now_s / self.epoch_s;
        if epoch != self.epoch {
            (self.epoch, self.used) = (epoch, 0);
        }
    }
}
