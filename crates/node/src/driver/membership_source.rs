//! Source of the changes of a node's membership view.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use undertone_membership::{MembershipLog, MembershipView, View};

/// Membership view of a node, and what keeps it up to date.
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
    Updated(Arc<Mutex<dyn View>>),
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
