//! Slashing of the demo's spammer, and how its nodes learn of it.

use std::time::Instant;

use undertone_rln::RecoveredSecret;

use super::chain::{POLL, Slashing};
use super::error::{DemoError, FOLLOW_LIMIT};
use super::line::{DemoLine, MemberStore};
use crate::Progress;

/// Slashes the spammer whose secret the nodes have recovered, and waits until all nodes know the removal
/// or a time limit has passed. Returns `None` without a chain.
pub(super) async fn punish(
    line: &DemoLine,
    secret: &RecoveredSecret,
    progress: &dyn Progress,
) -> Result<Option<Slashing>, DemoError> {
    let MemberStore::OnChain(chain) = &line.members else {
        return Ok(None);
    };
    progress.step("slashing the spammer on the chain");
    let mut slashing = chain.slash(secret).await?;
    let version = chain.version()?;
    let deadline = Instant::now() + FOLLOW_LIMIT;
    for node in &line.nodes {
        while Instant::now() < deadline {
            let state = node.running.handle.rln().await.ok().flatten();
            let known = state.map(|state| state.membership);
            if known.is_some_and(|known| known.version >= Some(version)) {
                slashing.nodes_updated +=
                    usize::from(known.is_some_and(|it| it.members == Some(slashing.members_after)));
                break;
            }
            tokio::time::sleep(POLL).await;
        }
    }
    Ok(Some(slashing))
}
