//! Membership view of a node, shared by several threads, and the source of its changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use undertone_membership::{MembershipLog, MembershipView, View};

/// View of the membership set, as the node follows it.
pub type SharedView = Arc<Mutex<dyn View>>;

/// Membership view of a node, and what keeps it up to date.
#[non_exhaustive]
pub enum MembershipSource {
    /// The node's membership thread reads the changes from a log.
    Log {
        /// Log of the members' registrations and removals.
        log: Arc<dyn MembershipLog>,
        /// The membership set as this node follows it.
        view: Arc<Mutex<MembershipView>>,
        /// File that the view is saved to from time to time and when the node stops; `None` for no file.
        snapshot_file: Option<PathBuf>,
    },
    /// The registry's own thread updates the view.
    Updated(SharedView),
}

impl MembershipSource {
    /// Returns the membership view.
    pub fn view(&self) -> &Mutex<dyn View> {
        match self {
            Self::Log { view, .. } => &**view,
            Self::Updated(view) => view,
        }
    }
}

/// Locks the view. A refresh that panicked leaves the last consistent version; the next one continues from it.
pub(crate) fn lock_view<V: View + ?Sized>(view: &Mutex<V>) -> MutexGuard<'_, V> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
