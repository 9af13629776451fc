#![doc = include_str!("../README.md")]

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::slice;

mod prefetch;
#[cfg(test)]
mod tests;

pub use prefetch::prefetch;

/// Maximum number of entries stored in a vector.
const FEW_MAX: usize = 8;

/// Ordered map that takes little memory while it holds few entries. Order and results are those of a [`BTreeMap`].
#[derive(Clone, Debug)]
pub struct FewMap<K, V>(Entries<K, V>);

#[derive(Clone, Debug)]
#[expect(
    clippy::box_collection,
    reason = "a tree beside a vector would make every map eight bytes larger"
)]
enum Entries<K, V> {
    /// At most [`FEW_MAX`] entries, sorted by key, in a vector without spare capacity.
    Few(Vec<(K, V)>),
    /// More entries, or fewer if there once were more.
    Many(Box<BTreeMap<K, V>>),
}

impl<K, V> Default for FewMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> FewMap<K, V> {
    /// Creates an empty map, which holds no memory.
    pub const fn new() -> Self {
        Self(Entries::Few(Vec::new()))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        match &self.0 {
            Entries::Few(few) => few.len(),
            Entries::Many(many) => many.len(),
        }
    }

    /// Whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(match &self.0 {
            Entries::Few(few) => IterOf::Few(few.iter()),
            Entries::Many(many) => IterOf::Many(many.iter()),
        })
    }

    /// Iterates over the values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> FewMap<K, V> {
    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        match &self.0 {
            Entries::Few(few) => position(few, key).ok().map(|at| &few[at].1),
            Entries::Many(many) => many.get(key),
        }
    }

    /// Returns the value of a key for modification.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match &mut self.0 {
            Entries::Few(few) => position(few, key).ok().map(|at| &mut few[at].1),
            Entries::Many(many) => many.get_mut(key),
        }
    }

    /// Whether the map has an entry for a key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key; returns the earlier value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.make_room();
        match &mut self.0 {
            Entries::Few(few) => match position(few, &key) {
                Ok(at) => Some(std::mem::replace(&mut few[at].1, value)),
                Err(at) => {
                    few.reserve_exact(1);
                    few.insert(at, (key, value));
                    None
                }
            },
            Entries::Many(many) => many.insert(key, value),
        }
    }

    /// Returns the value of a key, after inserting `value()` if it has none.
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        self.make_room();
        match &mut self.0 {
            Entries::Few(few) => {
                let at = position(few, &key).unwrap_or_else(|at| {
                    few.reserve_exact(1);
                    few.insert(at, (key, value()));
                    at
                });
                &mut few[at].1
            }
            Entries::Many(many) => many.entry(key).or_insert_with(value),
        }
    }

    /// Removes the entry of a key; returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let removed = match &mut self.0 {
            Entries::Few(few) => position(few, key).ok().map(|at| few.remove(at).1),
            Entries::Many(many) => many.remove(key),
        };
        self.release();
        removed
    }

    /// Removes and returns the entry with the smallest key.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        let first = match &mut self.0 {
            Entries::Few(few) if few.is_empty() => None,
            Entries::Few(few) => Some(few.remove(0)),
            Entries::Many(many) => many.pop_first(),
        };
        self.release();
        first
    }

    /// Removes the entries for which `keep` is false, calling it in the order of the keys.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        match &mut self.0 {
            Entries::Few(few) => few.retain_mut(|(key, value)| keep(key, value)),
            Entries::Many(many) => many.retain(keep),
        }
        self.release();
    }

    /// Moves the entries to a tree if one more would be too many for a vector.
    fn make_room(&mut self) {
        if let Entries::Few(few) = &mut self.0
            && few.len() >= FEW_MAX
        {
            let many = std::mem::take(few).into_iter().collect();
            self.0 = Entries::Many(Box::new(many));
        }
    }

    /// Frees the memory of an empty map.
    fn release(&mut self) {
        if self.is_empty() {
            *self = Self::new();
        }
    }
}

/// Returns the position of a key in sorted entries, or where it would be inserted.
fn position<K: Ord, V>(few: &[(K, V)], key: &K) -> Result<usize, usize> {
    few.binary_search_by(|(known, _)| known.cmp(key))
}

/// Entries of a [`FewMap`] in the order of their keys.
#[derive(Debug)]
pub struct Iter<'a, K, V>(IterOf<'a, K, V>);

#[derive(Debug)]
enum IterOf<'a, K, V> {
    Few(slice::Iter<'a, (K, V)>),
    Many(btree_map::Iter<'a, K, V>),
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterOf::Few(few) => few.next().map(|(key, value)| (key, value)),
            IterOf::Many(many) => many.next(),
        }
    }
}

impl<'a, K, V> IntoIterator for &'a FewMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
