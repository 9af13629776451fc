//! Membership view of a node, shared by several threads, and the source of its changes.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_membership::{MembershipLog, MembershipView, View};

/// The node's view of the membership set. A refresh that panics leaves the last consistent version, and the next
/// refresh continues from it.
pub type SharedView = Arc<Mutex<dyn View>>;

/// The node's membership view and the source of its updates.
#[non_exhaustive]
pub enum MembershipSource {
    /// The node's membership thread reads the changes from a log.
    Log {
        /// Log of the members' registrations and removals.
        log: Arc<dyn MembershipLog>,
        /// The membership set as this node follows it.
        view: Arc<Mutex<MembershipView>>,
        /// File that the view is saved to, at intervals and when the node stops; `None` for no file.
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

    /// Returns the membership view for sharing.
    pub(super) fn shared_view(&self) -> SharedView {
        match self {
            Self::Log { view, .. } => Arc::clone(view) as SharedView,
            Self::Updated(view) => Arc::clone(view),
        }
    }
}
