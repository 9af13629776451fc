//! The map compared with a `BTreeMap` under the same operations.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Entries, FEW_MAX, FewMap};

#[derive(Clone, Debug)]
enum Op {
    Insert(u8, u16),
    GetOrInsert(u8, u16),
    Change(u8, u16),
    Remove(u8),
    KeepMultiples(u8),
    PopFirst,
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0..24u8;
    prop_oneof![
        4 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Op::Insert(key, value)),
        2 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Op::GetOrInsert(key, value)),
        1 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Op::Change(key, value)),
        4 => key.prop_map(Op::Remove),
        1 => (1..6u8).prop_map(Op::KeepMultiples),
        2 => Just(Op::PopFirst),
    ]
}

proptest! {
    #[test]
    fn it_is_a_map(ops in prop::collection::vec(op(), 0..200)) {
        let (mut map, mut model) = (FewMap::new(), BTreeMap::new());
        for op in ops {
            match op {
                Op::Insert(key, value) => {
                    prop_assert_eq!(map.insert(key, value), model.insert(key, value));
                }
                Op::GetOrInsert(key, value) => {
                    let expected = *model.entry(key).or_insert(value);
                    prop_assert_eq!(*map.get_or_insert_with(key, || value), expected);
                }
                Op::Change(key, value) => {
                    let (mine, its) = (map.get_mut(&key), model.get_mut(&key));
                    prop_assert_eq!(mine.as_deref(), its.as_deref());
                    if let (Some(mine), Some(its)) = (mine, its) {
                        (*mine, *its) = (value, value);
                    }
                }
                Op::Remove(key) => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                Op::PopFirst => prop_assert_eq!(map.pop_first(), model.pop_first()),
                Op::KeepMultiples(of) => {
                    map.retain(|key, _| key % of == 0);
                    model.retain(|key, _| key % of == 0);
                }
            }
            prop_assert_eq!(map.len(), model.len());
            prop_assert_eq!(map.is_empty(), model.is_empty());
            prop_assert!(map.iter().eq(model.iter()));
            prop_assert!(map.values().eq(model.values()));
            for key in 0..24 {
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.contains_key(&key), model.contains_key(&key));
            }
        }
    }
}

#[test]
fn few_entries_take_no_more_room_than_they_need() {
    let mut map = FewMap::new();
    for key in 0..FEW_MAX {
        map.insert(key, ());
        let Entries::Few(few) = &map.0 else {
            panic!("{} entries are in a tree", key + 1);
        };
        assert_eq!(few.capacity(), few.len());
    }
    map.insert(FEW_MAX, ());
    assert!(matches!(map.0, Entries::Many(_)));
}

#[test]
fn a_map_that_was_emptied_holds_no_memory() {
    for entries in [1, FEW_MAX, 10 * FEW_MAX] {
        let mut map: FewMap<usize, ()> = FewMap::new();
        for key in 0..entries {
            map.insert(key, ());
        }
        for key in 0..entries {
            map.remove(&key);
        }
        let Entries::Few(few) = &map.0 else {
            panic!("a map of {entries} entries is still a tree without them");
        };
        assert_eq!(few.capacity(), 0);
    }
}
