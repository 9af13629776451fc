use alloy::primitives::address;
use tempfile::TempDir;
use undertone_rln::MerkleTree;

use super::*;
use crate::evm::chain::{Contract, Head};
use crate::registry::MemberIndex;
use crate::view::View as _;

mod older;

const CONTRACT: Contract = Contract {
    chain_id: 59_141,
    address: address!("b9cd878c90e49f797b4431fbf4fb333108cb90e6"),
};

/// Test rig: a contract and its follower.
struct Rig {
    _folder: TempDir,
    follower: LightFollower,
    view: Arc<Mutex<LightView>>,
    chain: Chain,
}

/// Model of a chain that keeps only the newest block.
#[derive(Clone)]
struct Chain {
    tree: MerkleTree,
    roots: Vec<Fr>,
    members: Vec<Member>,
    number: u64,
    /// Heights at which the root changed, with the roots.
    heights: Vec<(u64, Fr)>,
    /// Whether the contract has no `getRecentRoots`.
    is_older: bool,
    /// Number of recent blocks whose state the endpoint has.
    states: u64,
}

impl Chain {
    fn set(&mut self, member: Member) {
        self.members.retain(|it| it.index != member.index);
        self.members.push(member);
        self.tree.set(member.index.get(), member.leaf()).unwrap();
        self.roots.push(self.tree.root());
        self.number += 1;
        self.heights.push((self.number, self.tree.root()));
    }

    fn root_of(&self, height: u64) -> Option<Fr> {
        assert!(height <= self.number);
        if self.number - height >= self.states {
            return None;
        }
        let known = self.heights.iter().rev();
        let mut at = known.skip_while(|(number, _)| *number > height);
        Some(at.next().map_or(MerkleTree::new().root(), |it| it.1))
    }

    fn remove(&mut self, member: Member) {
        self.members.retain(|it| *it != member);
        self.tree.remove(member.index.get()).unwrap();
        self.roots.push(self.tree.root());
        self.number += 1;
        self.heights.push((self.number, self.tree.root()));
    }

    fn block(&self) -> BlockRef {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&self.number.to_be_bytes());
        BlockRef {
            number: self.number,
            hash: hash.into(),
        }
    }

    fn answer(&self, ask: &Ask) -> Answer {
        match *ask {
            Ask::Head => Answer::Head(Head {
                block: self.block(),
                parent: [0; 32].into(),
            }),
            Ask::Recent { .. } if self.is_older => Answer::Refused,
            Ask::Root { at } => {
                assert!(self.is_older && at == self.block());
                Answer::Root(self.tree.root())
            }
            Ask::RootOf { height } => {
                assert!(self.is_older);
                let root = self.root_of(height.unwrap_or(self.number));
                root.map_or(Answer::Refused, Answer::Root)
            }
            Ask::Recent { at } => {
                assert!(at.is_none_or(|at| at == self.block()));
                Answer::Recent(Recent {
                    roots: self.roots[self.roots.len().saturating_sub(5)..].to_vec(),
                    is_full: self.roots.len() >= 5,
                })
            }
            Ask::Membership { commitment, at } => {
                assert_eq!(at, self.block());
                let of = |member: &&Member| member.commitment == commitment;
                Answer::Membership(self.members.iter().find(of).copied())
            }
            Ask::Path { index, at } => {
                assert_eq!(at, self.block());
                Answer::Path(Box::new(self.tree.path(index.get()).unwrap().siblings))
            }
            _ => panic!("{ask:?} is of full mode"),
        }
    }
}

fn member(index: u32, commitment: u64) -> Member {
    Member {
        index: MemberIndex::new(index).unwrap(),
        commitment: Fr::from(commitment),
        limit: 20,
    }
}

const OURS: u64 = 1_000;

impl Rig {
    /// Creates a rig with this number of other members.
    fn new(others: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = LightStore::open(&folder.path().join("chain.sqlite"), &CONTRACT).unwrap();
        let view = Arc::new(Mutex::new(LightView::new(50)));
        let mut chain = Chain {
            tree: MerkleTree::new(),
            roots: Vec::new(),
            members: Vec::new(),
            number: 1,
            heights: Vec::new(),
            is_older: false,
            states: 128,
        };
        for index in 0..others {
            chain.set(member(index, u64::from(index) + 1));
        }
        Self {
            _folder: folder,
            follower: LightFollower::new(Arc::new(store), Arc::clone(&view)),
            view,
            chain,
        }
    }

    /// Creates a rig in which our own member is registered and known to the follower.
    fn with_us() -> Self {
        let mut rig = Self::new(7);
        rig.chain.set(member(7, OURS));
        rig.follower.watch(Fr::from(OURS));
        assert_eq!(rig.look(), 4);
        rig
    }

    /// Answers honestly until the follower has no request; returns the number of requests.
    fn look(&mut self) -> usize {
        let mut asked = 0;
        while let Next::Ask(ask) = self.follower.next() {
            asked += 1;
            let outcome = self.follower.answer(self.chain.answer(&ask)).unwrap();
            match outcome {
                LightOutcome::Going | LightOutcome::Synced(_) => {}
                outcome => panic!("{ask:?}: {outcome:?}"),
            }
        }
        let view = self.view.lock();
        assert_eq!(view.roots().newest(), self.chain.roots.last().copied());
        asked
    }

    fn wake(&mut self) -> usize {
        self.follower.wake();
        self.look()
    }

    /// Answers honestly up to the first request for which `lie` has an answer, and gives that.
    fn lie(&mut self, lie: impl Fn(&Ask) -> Option<Answer>) -> LightOutcome {
        while let Next::Ask(ask) = self.follower.next() {
            if let Some(answer) = lie(&ask) {
                return self.follower.answer(answer).unwrap();
            }
            self.follower.answer(self.chain.answer(&ask)).unwrap();
        }
        panic!("not asked");
    }

    fn ours(&self) -> Option<Option<Member>> {
        self.view.lock().membership(Fr::from(OURS))
    }

    fn path_is_right(&self, index: u32) {
        let path = self.view.lock().path(MemberIndex::new(index).unwrap());
        assert_eq!(path, Some(self.chain.tree.path(index).unwrap()));
    }
}

#[test]
fn as_long_as_nothing_happens_one_call_says_so() {
    let mut rig = Rig::new(3);
    assert_eq!(rig.look(), 2, "block and roots");
    for _ in 0..5 {
        rig.chain.number += 1;
        assert_eq!(rig.wake(), 1);
    }
    rig.chain.set(member(3, 5));
    assert_eq!(rig.wake(), 3, "roots, block, roots");
}

#[test]
fn a_member_has_its_path_and_a_new_one_after_each_change() {
    let mut rig = Rig::with_us();
    assert_eq!(rig.ours(), Some(Some(member(7, OURS))));
    rig.path_is_right(7);
    rig.chain.set(member(8, 5));
    assert_eq!(rig.wake(), 4, "roots, block, roots, path");
    rig.path_is_right(7);
    assert_eq!(rig.wake(), 1);
}

#[test]
fn a_late_registration_is_found() {
    let mut rig = Rig::new(3);
    rig.look();
    rig.follower.watch(Fr::from(OURS));
    assert_eq!(rig.look(), 3, "block, roots, membership");
    assert_eq!(rig.ours(), Some(None));
    assert_eq!(rig.wake(), 1);
    let before = rig.view.lock().revision();
    rig.chain.set(member(3, OURS));
    assert_eq!(rig.wake(), 5);
    rig.path_is_right(3);
    assert!(rig.view.lock().revision() > before);
}

#[test]
fn a_member_that_is_removed_or_moved_is_noticed() {
    let mut rig = Rig::with_us();
    rig.chain.remove(member(7, OURS));
    assert_eq!(rig.wake(), 5, "the path does not fit: who is it now?");
    assert_eq!(rig.ours(), Some(None));
    assert_eq!(rig.view.lock().path(MemberIndex::new(7).unwrap()), None);
    rig.chain.set(member(9, OURS));
    rig.wake();
    rig.path_is_right(9);
    rig.chain.set(member(9, 5));
    rig.chain.set(member(7, OURS));
    assert_eq!(rig.wake(), 6);
    rig.path_is_right(7);
}

/// The erased member's leaf stays until its index is used again, so it can still publish.
#[test]
fn a_member_that_is_erased_lazily_goes_on() {
    let mut rig = Rig::with_us();
    rig.chain.members.retain(|it| it.index.get() != 7);
    rig.chain.set(member(8, 5));
    rig.wake();
    rig.path_is_right(7);
    rig.chain.set(member(7, 6));
    rig.wake();
    assert_eq!(rig.ours(), Some(None));
}

#[test]
fn nothing_of_a_wrong_path_is_taken() {
    let mut rig = Rig::with_us();
    let before = rig.view.lock().known().clone();
    rig.chain.set(member(8, 5));
    rig.follower.wake();
    // The path is that of another leaf, also after the contract confirmed the member.
    let wrong = Box::new(rig.chain.tree.path(3).unwrap().siblings);
    let lie = |ask: &Ask| matches!(ask, Ask::Path { .. }).then(|| Answer::Path(wrong.clone()));
    assert_eq!(rig.lie(lie), LightOutcome::Going);
    let same = |ask: &Ask| {
        matches!(ask, Ask::Membership { .. }).then_some(Answer::Membership(Some(member(7, OURS))))
    };
    assert_eq!(rig.lie(same), LightOutcome::Mismatch);
    assert_eq!(*rig.view.lock().known(), before);
    // The member is at another index, and its path is wrong too.
    assert_eq!(rig.lie(lie), LightOutcome::Going);
    let moved = |ask: &Ask| {
        matches!(ask, Ask::Membership { .. }).then_some(Answer::Membership(Some(member(9, OURS))))
    };
    assert_eq!(rig.lie(moved), LightOutcome::Going);
    assert_eq!(rig.lie(lie), LightOutcome::Mismatch);
    assert_eq!(*rig.view.lock().known(), before);
    rig.look();
    rig.path_is_right(7);
}

#[test]
fn roots_without_the_members_do_not_fit() {
    let mut rig = Rig::with_us();
    let before = rig.view.lock().known().clone();
    rig.chain.set(member(8, 5));
    rig.follower.wake();
    let none = Recent {
        roots: Vec::new(),
        is_full: false,
    };
    let lie = |ask: &Ask| matches!(ask, Ask::Recent { .. }).then(|| Answer::Recent(none.clone()));
    assert_eq!(rig.lie(lie), LightOutcome::Going, "something has changed");
    assert_eq!(rig.lie(lie), LightOutcome::Going);
    let same = |ask: &Ask| {
        matches!(ask, Ask::Membership { .. }).then_some(Answer::Membership(Some(member(7, OURS))))
    };
    assert_eq!(rig.lie(same), LightOutcome::Mismatch);
    assert_eq!(*rig.view.lock().known(), before);
}

#[test]
fn an_endpoint_that_lags_is_found_out() {
    let mut rig = Rig::with_us();
    let old = rig.chain.clone();
    rig.chain.set(member(8, 5));
    rig.wake();
    let behind = LightOutcome::Behind {
        newest: old.number,
        known: rig.chain.number,
    };
    rig.follower.wake();
    let lie = |ask: &Ask| (*ask == Ask::Head || rig_is_glance(ask)).then(|| old.answer(ask));
    assert_eq!(
        rig.lie(lie),
        LightOutcome::Going,
        "other roots than the last"
    );
    assert_eq!(rig.lie(lie), behind);
    assert_eq!(rig.wake(), 1, "the next endpoint knows better");

    // The endpoint has the roots of a block, but not the block.
    let old = rig.chain.clone();
    rig.chain.set(member(9, 5));
    rig.follower.wake();
    let lie = |ask: &Ask| (!rig_is_glance(ask)).then(|| old.answer(ask));
    assert_eq!(rig.lie(lie), LightOutcome::Going);
    assert!(matches!(rig.lie(lie), LightOutcome::Behind { .. }));
    assert_eq!(rig.wake(), 4);
}

fn rig_is_glance(ask: &Ask) -> bool {
    *ask == Ask::Recent { at: None }
}

#[test]
fn a_chain_that_stays_shorter_is_believed_in_the_end() {
    let mut rig = Rig::with_us();
    rig.chain.number -= 3;
    rig.chain.roots.truncate(6);
    rig.chain.remove(member(7, OURS));
    let mut refused = 0;
    for _ in 0..=MAX_BEHIND {
        rig.follower.wake();
        while let Next::Ask(ask) = rig.follower.next() {
            if let LightOutcome::Behind { .. } =
                rig.follower.answer(rig.chain.answer(&ask)).unwrap()
            {
                refused += 1;
            }
        }
    }
    assert_eq!(refused, MAX_BEHIND);
    assert_eq!(rig.ours(), Some(None), "and so is what it says");
}

#[test]
fn roots_of_replaced_blocks_are_gone_some_blocks_later() {
    let mut rig = Rig::with_us();
    let gone = *rig.chain.roots.last().unwrap();
    rig.chain.roots.pop();
    rig.chain.set(member(7, 5));
    rig.wake();
    assert!(rig.view.lock().roots().contains(&gone));
    rig.chain.number += 20;
    assert_eq!(
        rig.wake(),
        2,
        "the height is asked for as long as it matters"
    );
    rig.chain.number += 20;
    rig.wake();
    assert!(!rig.view.lock().roots().contains(&gone));
    assert_eq!(rig.wake(), 1);
}

#[test]
fn an_answer_to_another_question_is_none() {
    let mut rig = Rig::with_us();
    rig.follower.wake();
    assert_eq!(
        rig.follower.answer(Answer::Count(1)).unwrap(),
        LightOutcome::InvalidAnswer
    );
    assert_eq!(rig.look(), 2, "block and roots; the path is the same");
}

#[test]
fn after_a_failure_a_look_begins_anew() {
    let mut rig = Rig::with_us();
    rig.chain.set(member(8, 5));
    rig.follower.wake();
    for answered in 0..4 {
        for _ in 0..answered {
            let Next::Ask(ask) = rig.follower.next() else {
                panic!("asked for {answered} things only");
            };
            rig.follower.answer(rig.chain.answer(&ask)).unwrap();
        }
        rig.follower.failed();
    }
    assert_eq!(rig.look(), 4);
    rig.path_is_right(7);
}
