use std::sync::Mutex;

use proptest::prelude::*;
use undertone_rln::tree::CAPACITY;

use super::*;
use crate::registry::{Member, tree_of};

#[cfg(feature = "evm")]
mod chain;

/// Registry in memory: a minimal log.
#[derive(Default)]
struct Memory {
    log: Mutex<Vec<Change>>,
}

impl Memory {
    fn append(&self, index: MemberIndex, kind: ChangeKind) {
        let mut log = self.log.lock().unwrap();
        let version = Version(log.len() as u64 + 1);
        log.push(Change {
            version,
            index,
            kind,
        });
    }

    fn register(&self, commitment: Fr, limit: u32) -> Result<MemberIndex, RegistryError> {
        let log = self.log.lock().unwrap().clone();
        let next = log.iter().map(|c| c.index.get() + 1).max().unwrap_or(0);
        let index = MemberIndex::new(next).ok_or(RegistryError::Full)?;
        self.append(index, ChangeKind::Registered { commitment, limit });
        Ok(index)
    }

    fn remove(&self, index: MemberIndex) -> Result<(), RegistryError> {
        let members = self.members()?;
        let member = members.iter().find(|member| member.index == index);
        member.ok_or(RegistryError::UnknownMember { index })?;
        self.append(index, ChangeKind::Removed);
        Ok(())
    }

    fn members(&self) -> Result<Vec<Member>, RegistryError> {
        let mut members: Vec<Member> = Vec::new();
        for Change { index, kind, .. } in self.log.lock().unwrap().iter().copied() {
            match kind {
                ChangeKind::Registered { commitment, limit } => {
                    members.push(Member {
                        index,
                        commitment,
                        limit,
                    });
                }
                ChangeKind::Removed | ChangeKind::Placed { .. } => {
                    members.retain(|member| member.index != index);
                }
            }
        }
        Ok(members)
    }

    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        Ok(self
            .members()?
            .into_iter()
            .find(|member| member.commitment == commitment))
    }

    fn tree(&self) -> Result<MerkleTree, RegistryError> {
        Ok(tree_of(&self.members()?))
    }
}

impl MembershipLog for Memory {
    fn id(&self) -> RegistryId {
        RegistryId([7; 16])
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(Version(self.log.lock().unwrap().len() as u64))
    }

    fn changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<Change>, RegistryError> {
        let log = self.log.lock().unwrap();
        Ok(log
            .iter()
            .filter(|c| c.version > known)
            .take(max_changes)
            .copied()
            .collect())
    }
}

fn index(index: u32) -> MemberIndex {
    MemberIndex::new(index).unwrap()
}

#[test]
fn indices_end_with_the_tree() {
    assert_eq!(MemberIndex::new(CAPACITY), None);
    assert_eq!(
        MemberIndex::new(CAPACITY - 1).map(MemberIndex::get),
        Some(CAPACITY - 1)
    );
}

#[test]
fn an_empty_registry_accepts_no_root() {
    let mut view = MembershipView::new(5);
    assert!(!view.refresh(&Memory::default()).unwrap());
    assert!(view.roots().is_empty());
    assert!(!view.roots().contains(&view.tree().root()));
}

#[test]
fn a_path_leads_to_an_accepted_root() {
    let registry = Memory::default();
    let mut view = MembershipView::new(5);
    for commitment in 1..=3 {
        registry.register(Fr::from(commitment), 20).unwrap();
    }
    assert!(view.refresh(&registry).unwrap());
    let member = registry.find(Fr::from(2)).unwrap().unwrap();
    let root = view.path(member.index).root_of(member.leaf());
    assert_eq!(root, view.tree().root());
    assert!(view.roots().contains(&root));
    registry.remove(member.index).unwrap();
    assert!(view.refresh(&registry).unwrap());
    assert_ne!(
        view.path(member.index).root_of(member.leaf()),
        view.tree().root()
    );
}

#[test]
fn more_changes_than_a_page() {
    let registry = Memory::default();
    for commitment in 1..=(PAGE as u64 + 30) {
        registry.append(index(commitment as u32), ChangeKind::Removed);
    }
    registry.register(Fr::from(1), 20).unwrap();
    let mut view = MembershipView::new(5);
    assert!(view.refresh(&registry).unwrap());
    assert_eq!(view.version(), Version(PAGE as u64 + 31));
    assert_eq!(view.tree().root(), registry.tree().unwrap().root());
}

#[test]
fn a_replaced_registry_is_noticed() {
    let registry = Memory::default();
    registry.register(Fr::from(1), 20).unwrap();
    let mut view = MembershipView::new(5);
    view.refresh(&registry).unwrap();
    let error = view.refresh(&Memory::default()).unwrap_err();
    let (known, found) = (Version(1), Version(0));
    let expected = matches!(error, RegistryError::RolledBack { known: k, found: f }
        if (k, f) == (known, found));
    assert!(expected, "{error}");
}

#[test]
fn a_hole_in_the_log_is_noticed() {
    let registry = Memory::default();
    for commitment in 1..=3 {
        registry.register(Fr::from(commitment), 20).unwrap();
    }
    registry.log.lock().unwrap()[2].version = Version(4);
    let mut view = MembershipView::new(5);
    let error = view.refresh(&registry).unwrap_err();
    let expected = matches!(
        error,
        RegistryError::Gap {
            known: Version(2),
            found: Version(4)
        }
    );
    assert!(expected, "{error}");
    assert_eq!(
        view.version(),
        Version(2),
        "what came before the hole was taken in"
    );
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Register { commitment: u64, limit: u32 },
    Remove { nth: usize },
    Refresh,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..u64::MAX, 1..=100u32)
            .prop_map(|(commitment, limit)| Step::Register { commitment, limit }),
        1 => any::<usize>().prop_map(|nth| Step::Remove { nth }),
        1 => Just(Step::Refresh),
    ];
    prop::collection::vec(step, 1..40)
}

#[test]
fn a_saved_view_goes_on_where_it_was() {
    let registry = Memory::default();
    for commitment in 1..=5u64 {
        registry.register(Fr::from(commitment), 20).unwrap();
    }
    let mut followed = MembershipView::new(3);
    followed.refresh(&registry).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    assert!(
        MembershipView::load(&path, registry.id(), 3)
            .unwrap()
            .is_none()
    );
    followed.save(&path, registry.id()).unwrap();

    registry.remove(MemberIndex::new(2).unwrap()).unwrap();
    let mut loaded = MembershipView::load(&path, registry.id(), 3)
        .unwrap()
        .unwrap();
    assert_eq!(loaded.version(), Version(5));
    for view in [&mut followed, &mut loaded] {
        assert!(view.refresh(&registry).unwrap());
    }
    assert_eq!(loaded.version(), followed.version());
    assert_eq!(loaded.tree().root(), followed.tree().root());
    let roots = |view: &MembershipView| view.roots().iter().copied().collect::<Vec<_>>();
    assert_eq!(roots(&loaded), roots(&followed));
}

#[test]
fn a_snapshot_of_another_registry_is_not_loaded() {
    let registry = Memory::default();
    registry.register(Fr::from(1), 20).unwrap();
    let mut followed = MembershipView::new(3);
    followed.refresh(&registry).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    let other = RegistryId([8; 16]);
    followed.save(&path, other).unwrap();
    let error = MembershipView::load(&path, registry.id(), 3).unwrap_err();
    let found = matches!(error, LoadError::OtherRegistry { found, .. } if found == other);
    assert!(found, "{error}");
    assert!(MembershipView::load(&path, other, 3).unwrap().is_some());
}

#[test]
fn a_damaged_snapshot_is_replaced_by_the_registry() {
    let registry = Memory::default();
    registry.register(Fr::from(1), 20).unwrap();
    let mut followed = MembershipView::new(3);
    followed.refresh(&registry).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    followed.save(&path, registry.id()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let error = MembershipView::load(&path, registry.id(), 3).unwrap_err();
    assert!(
        error.to_string().contains("rebuilt from the registry"),
        "{error}"
    );
    let mut rebuilt = MembershipView::new(3);
    rebuilt.refresh(&registry).unwrap();
    rebuilt.save(&path, registry.id()).unwrap();
    let loaded = MembershipView::load(&path, registry.id(), 3)
        .unwrap()
        .unwrap();
    assert_eq!(loaded.tree().root(), followed.tree().root());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The view ends up the same for any times of the refreshes between the changes.
    #[test]
    fn a_view_equals_the_rebuilt_tree(steps in steps(), capacity in 0usize..8) {
        let registry = Memory::default();
        let mut view = MembershipView::new(capacity);
        let mut all_roots = Vec::new();
        for step in steps.into_iter().chain([Step::Refresh]) {
            match step {
                Step::Register { commitment, limit } => {
                    registry.register(Fr::from(commitment), limit).unwrap();
                    all_roots.push(registry.tree().unwrap().root());
                }
                Step::Remove { nth } => {
                    let members = registry.members().unwrap();
                    let Some(nth) = nth.checked_rem(members.len()) else { continue };
                    registry.remove(members[nth].index).unwrap();
                    all_roots.push(registry.tree().unwrap().root());
                }
                Step::Refresh => {
                    let behind = view.version() < registry.version().unwrap();
                    prop_assert_eq!(view.refresh(&registry).unwrap(), behind);
                    prop_assert_eq!(view.version(), registry.version().unwrap());
                    prop_assert_eq!(view.tree().root(), registry.tree().unwrap().root());
                }
            }
        }
        let accepted = all_roots.iter().rev().take(capacity);
        prop_assert_eq!(view.roots().len(), accepted.clone().count());
        for root in accepted {
            prop_assert!(view.roots().contains(root));
        }
    }
}
