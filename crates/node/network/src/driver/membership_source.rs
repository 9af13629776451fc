//! Membership view of a node, shared by several threads, and the source of its changes.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_membership::{MembershipLog, MembershipView, View};

/// View of the membership set, as the node follows it. A refresh that panics leaves the last consistent version, from
/// which the next one continues.
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

    /// Returns the membership view to be shared.
    pub(super) fn shared_view(&self) -> SharedView {
        match self {
            Self::Log { view, .. } => Arc::clone(view) as SharedView,
            Self::Updated(view) => Arc::clone(view),
        }
    }
}
