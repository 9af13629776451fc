//! Roots of a registry's whole past.

use undertone_rln::RootTimeline;

use crate::registry::{DatedLog, RegistryError, Version};
use crate::view::MembershipView;

/// Changes that are read at once.
const PAGE: usize = 256;

/// Most changes of a log whose roots are computed: twice as many as the tree has leaves, with room.
/// A root takes about 100 bytes of memory.
pub const MAX_TIMELINE_CHANGES: u64 = 1 << 22;

/// Reason why the roots of a registry's past cannot be known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The log has more changes than roots are computed for.
    #[error("the registry has seen {found} changes; the roots of at most {max} are computed")]
    TooLong {
        /// Number of changes of the log.
        found: u64,
        /// Most changes whose roots are computed.
        max: u64,
    },
}

/// Computes the root after each change of a registry, whose newest `window` roots are accepted at a time.
///
/// Each root takes a path of hashes: 20 of them. `progress` is told after each page how many changes are done,
/// and of how many.
///
/// # Errors
/// [`TimelineError`] when the registry cannot be read, or is too long.
pub fn root_timeline(
    log: &dyn DatedLog,
    window: usize,
    mut progress: impl FnMut(Version, Version),
) -> Result<RootTimeline, TimelineError> {
    let newest = log.version()?;
    if newest.0 > MAX_TIMELINE_CHANGES {
        return Err(TimelineError::TooLong {
            found: newest.0,
            max: MAX_TIMELINE_CHANGES,
        });
    }
    let mut timeline = RootTimeline::new(window);
    let mut view = MembershipView::new(0);
    while view.version() < newest {
        let page = log.dated_changes_since(view.version(), PAGE)?;
        if page.is_empty() {
            return Err(RegistryError::RolledBack {
                known: newest,
                found: view.version(),
            }
            .into());
        }
        for dated in &page {
            view.apply(std::slice::from_ref(&dated.change))?;
            timeline.push(view.tree().root(), dated.moment);
            if let Some(unix_ns) = dated.unix_ns {
                timeline.set_time(dated.moment, unix_ns);
            }
        }
        progress(view.version(), newest.max(view.version()));
    }
    Ok(timeline)
}

#[cfg(all(test, feature = "sqlite"))]
#[path = "tests/timeline.rs"]
mod tests;
