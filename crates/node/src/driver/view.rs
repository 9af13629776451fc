//! Access to the membership view that several threads share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use undertone_membership::View;

/// View of the membership set, as the node follows it.
pub(crate) type SharedView = Arc<Mutex<dyn View>>;

/// Locks the view. A refresh that panicked leaves the last consistent version; the next one continues from it.
pub(crate) fn lock_view<V: View + ?Sized>(view: &Mutex<V>) -> MutexGuard<'_, V> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
