//! Collections that are empty most of the time.

/// Collection that costs one pointer while empty: a host has many connections, of which few are busy.
#[derive(Clone, Debug)]
pub(crate) struct BoxedIfUsed<C>(Option<Box<C>>);

impl<C> Default for BoxedIfUsed<C> {
    fn default() -> Self {
        Self(None)
    }
}

impl<C: Default> BoxedIfUsed<C> {
    /// The collection, if it may hold anything.
    pub(crate) fn get(&self) -> Option<&C> {
        self.0.as_deref()
    }

    /// The collection, if it may hold anything.
    pub(crate) fn get_mut(&mut self) -> Option<&mut C> {
        self.0.as_deref_mut()
    }

    /// The collection for adding items; created if absent.
    pub(crate) fn fill(&mut self) -> &mut C {
        self.0.get_or_insert_default()
    }

    /// Frees the collection's memory if `is_empty` says that it is empty.
    pub(crate) fn release(&mut self, is_empty: impl FnOnce(&C) -> bool) {
        if self.0.as_deref().is_some_and(is_empty) {
            self.0 = None;
        }
    }
}
