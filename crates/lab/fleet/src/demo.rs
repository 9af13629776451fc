//! The demo: five members in a line over TCP on loopback, with real proofs. Messages of four sizes travel
//! along the line. Then a sixth member exceeds its limit and is disconnected. With a chain, the members are
//! registered in a contract, and the sixth one loses its deposit.

mod chain;
mod error;
mod latency;
mod line;

mod report;
mod slash;
mod spam;

use std::path::PathBuf;

use crate::Progress;

use self::line::{DemoLine, NODES, WITH_TOKENS};

pub use chain::Slashing;
pub use error::{DemoError, NetworkError, OnChainError};
pub use latency::{HopMedians, SizeLatency, WithoutTokens};
pub use report::{DemoReport, Shortcoming};
pub use spam::Spam;

/// Options of a run of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoOptions {
    /// Number of messages of each size.
    pub runs: u32,
    /// Whether the members are kept in a contract on a development chain, and the spammer is slashed there.
    pub on_chain: bool,
    /// Folder in which to keep the nodes' files (registry, identities, counters); a temporary one if
    /// `None`.
    pub keep: Option<PathBuf>,
}

/// Runs the demo to its end.
///
/// # Errors
/// Returns [`DemoError`] when the network cannot be started, or a node cannot go on.
pub async fn run(options: &DemoOptions, progress: &dyn Progress) -> Result<DemoReport, DemoError> {
    let mut line = DemoLine::start(options.keep.as_deref(), options.on_chain, progress).await?;
    let startup_ms = line.startup_ms;
    latency::warm_up(&mut line, progress).await?;
    let tokens_before = line.tokens(WITH_TOKENS).await;
    let latency = latency::measure(&mut line, options.runs, progress).await?;
    let tokens = line.tokens(WITH_TOKENS).await;
    let token_prepare_ms = tokens_before
        .zip(tokens)
        .map_or(0.0, |(before, after)| report::prepare_ms(before, after));
    let without_tokens = latency::without_tokens(&mut line, options.runs, progress).await?;
    let spam = spam::attack(&mut line, progress).await?;
    let chain = match &spam.secret {
        Some(secret) => slash::punish(&line, secret, progress).await?,
        None => None,
    };
    line.stop().await;
    progress.finish();
    Ok(DemoReport {
        nodes: NODES,
        startup_ms,
        latency,
        without_tokens,
        token_prepare_ms,
        spam,
        chain,
    })
}
