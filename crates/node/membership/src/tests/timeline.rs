//! Timelines of registries in files.

use undertone_rln::{Fr, RootStanding, RootTolerance};

use super::*;
use crate::registry::MemberIndex;
use crate::sqlite::SqliteRegistry;

const EXACT: RootTolerance = RootTolerance::new(0, 0);

#[test]
fn every_root_of_the_past_is_in_the_timeline_at_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let registry = SqliteRegistry::open(folder.path().join("members.sqlite")).unwrap();
    let mut roots = Vec::new();
    for commitment in 1..=300_u64 {
        registry.register(Fr::from(commitment), 5).unwrap();
        if commitment % 100 == 0 {
            roots.push(registry.tree().unwrap().root());
        }
    }
    registry.remove(MemberIndex::new(7).unwrap()).unwrap();
    roots.push(registry.tree().unwrap().root());

    let mut told = Vec::new();
    let timeline = root_timeline(&registry, 50, |done, of| told.push((done.0, of.0))).unwrap();
    assert_eq!(timeline.len(), 301);
    assert_eq!(told, [(256, 301), (301, 301)]);
    let changes = registry.dated_changes_since(Version(0), 999).unwrap();
    for (root, version) in roots.iter().zip([100, 200, 300, 301]) {
        let since_ns = changes[version - 1].unix_ns.unwrap();
        let at = |at_ns| timeline.standing(root, at_ns, &EXACT);
        assert_eq!(at(since_ns - 1), RootStanding::Early { since_ns });
        let current = RootStanding::Accepted {
            replaced_for_ns: None,
        };
        assert_eq!(at(since_ns), current);
    }
    let left_ns = changes[149].unix_ns.unwrap();
    let after = timeline.standing(&roots[0], left_ns + 1, &EXACT);
    assert_eq!(after, RootStanding::Expired { until_ns: left_ns });
}

#[test]
fn an_empty_registry_has_no_roots() {
    let folder = tempfile::tempdir().unwrap();
    let registry = SqliteRegistry::open(folder.path().join("members.sqlite")).unwrap();
    let timeline = root_timeline(&registry, 50, |_, _| {}).unwrap();
    assert!(timeline.is_empty());
}
