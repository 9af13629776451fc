//! All results of the demo, and the verdict on them.

use serde::Serialize;
use thiserror::Error;
use undertone_rln::PoolSnapshot;

use super::chain::Slashing;
use super::latency::{SizeLatency, WithoutTokens};
use super::spam::Spam;

/// All results of the demo.
#[derive(Debug, Serialize)]
pub struct DemoReport {
    /// Number of nodes in the line.
    pub nodes: usize,
    /// Time until the line was ready, milliseconds.
    pub startup_ms: f64,
    /// Latency for each payload size.
    pub latency: Vec<SizeLatency>,
    /// Proofs made without tokens.
    pub without_tokens: WithoutTokens,
    /// Mean wall-clock time for preparing a token ahead of its message, milliseconds.
    pub token_prepare_ms: f64,
    /// Outcome of the spam attack.
    pub spam: Spam,
    /// Result of slashing on the chain; only with a chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Slashing>,
}

/// Expectation of the demo that was not met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Shortcoming {
    /// Messages did not reach every node.
    #[error("{missing} deliveries of {size_bytes} bytes are missing")]
    Undelivered {
        /// Number of missing deliveries.
        missing: usize,
        /// Size of the payload, bytes.
        size_bytes: usize,
    },
    /// More spam reached every node than the limit allows.
    #[error("{0} spam messages got through")]
    SpamDelivered(usize),
    /// The spammer was not isolated.
    #[error("the spammer kept {0} peers")]
    SpammerConnected(usize),
    /// No honest node graylisted the spammer, although the spammer has no peers.
    #[error(
        "no node graylisted the spammer, which has no peers: its messages may have reached nobody"
    )]
    SpammerUnheard,
    /// No node recovered the secret.
    #[error("the spammer's secret was not recovered")]
    SecretHidden,
    /// The contract did not remove the spammer, or did not divide its deposit as it should.
    #[error("the spammer was not slashed on the chain")]
    NotSlashed,
    /// Nodes did not learn of the slashing.
    #[error("{0} nodes still have the spammer in their tree")]
    NotRemoved(usize),
}

impl DemoReport {
    /// Checks that all messages were delivered and the spammer was isolated and, on a chain, slashed.
    ///
    /// # Errors
    /// Returns the first [`Shortcoming`].
    pub fn verdict(&self) -> Result<(), Shortcoming> {
        for row in &self.latency {
            if row.delivered < row.expected {
                return Err(Shortcoming::Undelivered {
                    missing: row.expected - row.delivered,
                    size_bytes: row.size_bytes,
                });
            }
        }
        let spam = &self.spam;
        if spam.delivered > spam.limit as usize {
            return Err(Shortcoming::SpamDelivered(spam.delivered));
        }
        if spam.spammer_peers_left > 0 {
            return Err(Shortcoming::SpammerConnected(spam.spammer_peers_left));
        }
        if spam.isolated_after_ms.is_none() {
            return Err(Shortcoming::SpammerUnheard);
        }
        if !spam.secret_recovered {
            return Err(Shortcoming::SecretHidden);
        }
        if let Some(chain) = &self.chain {
            if !chain.slashed {
                return Err(Shortcoming::NotSlashed);
            }
            if chain.nodes_updated < self.nodes {
                return Err(Shortcoming::NotRemoved(self.nodes - chain.nodes_updated));
            }
        }
        Ok(())
    }
}

/// Returns the mean time for preparing a token between two snapshots, milliseconds.
pub(super) fn prepare_ms(before: PoolSnapshot, after: PoolSnapshot) -> f64 {
    let spent_ns = after.spent_ns_total.saturating_sub(before.spent_ns_total);
    let prepared = after.prepared_total.saturating_sub(before.prepared_total);
    spent_ns as f64 / 1e6 / prepared.max(1) as f64
}
