//! Timeline of all past roots of a registry.

use undertone_rln::RootTimeline;

use crate::registry::{DatedLog, RegistryError, Version};
use crate::view::MembershipView;

/// Number of changes read at once.
const PAGE: usize = 256;

/// Maximum number of changes in a log whose roots are computed: twice as many as the tree has leaves, with a
/// margin. Each root takes about 100 bytes of memory.
pub const MAX_TIMELINE_CHANGES: u64 = 1 << 22;

/// Reason why the past roots of a registry cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The log has too many changes.
    #[error("the registry has seen {found} changes; the roots of at most {max} are computed")]
    TooLong {
        /// Number of changes in the log.
        found: u64,
        /// Maximum number of changes.
        max: u64,
    },
}

/// Computes the root after each change of a registry that accepts the newest `window` roots at a time.
///
/// Each root takes a path of 20 hashes. After each page, `progress` is called with the number of changes done
/// and the total.
///
/// # Errors
/// [`TimelineError`] when the registry cannot be read or its log is too long.
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
