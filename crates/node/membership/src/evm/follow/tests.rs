use alloy::primitives::Address;
use proptest::prelude::*;
use undertone_rln::Fr;

use super::*;
use crate::evm::chain::Contract;

mod model;

use model::{Chain, Op, Telling};

const WINDOW: usize = 50;

struct Rig {
    chain: Chain,
    store: Arc<Store>,
    view: Arc<Mutex<MembershipView>>,
    follower: Follower,
    /// Whether leaves were read, because the events did not lead to the root.
    repaired: bool,
}

impl Rig {
    fn new(telling: Telling, range: Range) -> Self {
        let contract = Contract {
            chain_id: 1,
            address: Address::ZERO,
        };
        let store = Arc::new(Store::in_memory(&contract, 0).unwrap());
        let view = Arc::new(Mutex::new(MembershipView::new(WINDOW)));
        Self {
            chain: Chain::new(telling),
            follower: Follower::new(Arc::clone(&store), Arc::clone(&view), range).unwrap(),
            store,
            view,
            repaired: false,
        }
    }

    /// Restarts the follower from the store, as after the process was killed.
    fn restart(&mut self) {
        self.view = Arc::new(Mutex::new(MembershipView::new(WINDOW)));
        let (store, view) = (Arc::clone(&self.store), Arc::clone(&self.view));
        self.follower = Follower::new(store, view, self.follower.range).unwrap();
    }

    /// Answers one request; `None` when the follower has none.
    fn step(&mut self) -> Option<Outcome> {
        let Next::Ask(ask) = self.follower.next() else {
            return None;
        };
        self.repaired |= matches!(ask, Ask::Leaves { .. });
        match self.chain.answer(&ask) {
            Some(answer) => Some(self.follower.answer(answer).unwrap()),
            None => {
                self.follower.failed(RequestFailure::Other);
                Some(Outcome::Going)
            }
        }
    }

    fn sync(&mut self) {
        self.follower.wake();
        for _ in 0..500 {
            // A pending request may be about an older head.
            let outcome = self.step();
            if outcome == Some(Outcome::Synced) && self.follower.head() == Some(self.chain.head()) {
                return;
            }
            self.follower.wake();
        }
        panic!("not synced after 500 questions: {:?}", self.follower.phase);
    }

    /// Checks that the tree, the window and the store are those of the chain.
    fn check(&self) {
        let view = self.view.lock();
        assert_eq!(view.tree().root(), self.chain.root());
        if !self.chain.leaves().is_empty() {
            assert_eq!(view.roots().newest(), Some(self.chain.root()));
        }
        let leaves: Vec<Fr> = (0..self.chain.leaves().len() as u32)
            .map(|at| view.tree().leaf(at).unwrap())
            .collect();
        assert_eq!(leaves, self.chain.leaves());
        assert_eq!(view.version(), self.store.version().unwrap());
        for member in self.store.members().unwrap() {
            assert_eq!(self.store.find(member.commitment).unwrap(), Some(member));
            assert_eq!(
                member.leaf(),
                self.chain.leaves()[member.index.get() as usize]
            );
        }
    }

    fn accepts(&self, root: Fr) -> bool {
        self.view.lock().roots().contains(&root)
    }
}

fn small() -> Range {
    Range::new(3, 8)
}

#[test]
fn each_block_gives_its_root() {
    let mut rig = Rig::new(Telling::Roots, small());
    rig.sync();
    assert!(rig.view.lock().roots().is_empty());
    let mut roots = Vec::new();
    for _ in 0..60 {
        rig.chain.mine(&[Op::Register]);
        rig.sync();
        roots.push(rig.chain.root());
    }
    rig.check();
    assert!(!rig.accepts(roots[9]));
    assert!(roots[10..].iter().all(|root| rig.accepts(*root)));
}

#[test]
fn the_window_survives_a_restart_without_the_chain() {
    let mut rig = Rig::new(Telling::Little, small());
    for _ in 0..70 {
        rig.chain.mine(&[Op::Register]);
    }
    rig.sync();
    let before = rig.view.lock().roots().iter().copied().collect::<Vec<_>>();
    rig.restart();
    let view = rig.view.lock();
    assert_eq!(before.len(), WINDOW);
    assert_eq!(view.roots().iter().copied().collect::<Vec<_>>(), before);
}

#[test]
fn nothing_is_accepted_before_the_root_was_compared() {
    let mut rig = Rig::new(Telling::Little, small());
    for _ in 0..30 {
        rig.chain.mine(&[Op::Register]);
    }
    let mut pages = 0;
    for _ in 0..100 {
        let block = rig.follower.block();
        let Some(outcome) = rig.step() else { break };
        let is_empty = rig.view.lock().roots().is_empty();
        assert_eq!(is_empty, outcome != Outcome::Synced);
        if rig.follower.block() > block {
            pages += 1;
            rig.restart();
        }
    }
    assert!(pages > 3, "{pages} pages");
}

/// Old deployments do not report whether an erasure emptied the leaf, so the leaf is read.
#[test]
fn an_erasure_that_the_events_do_not_explain() {
    let mut rig = Rig::new(Telling::Little, small());
    rig.chain.mine(&[Op::Register; 4]);
    rig.sync();
    rig.chain.mine(&[Op::Erase { at: 1, fully: true }]);
    let erased = rig.chain.root();
    rig.sync();
    rig.check();
    assert!(rig.accepts(erased));
    let lazily = Op::Erase {
        at: 1,
        fully: false,
    };
    rig.chain.mine(&[lazily]);
    rig.sync();
    rig.check();
    assert_eq!(rig.chain.root(), erased, "the leaf stays");
}

/// Roots of abandoned blocks stay for the given time and do not displace the others.
#[test]
fn roots_of_a_reorganised_chain_leave_after_a_while() {
    let mut rig = Rig::new(Telling::All, small());
    for _ in 0..80 {
        rig.chain.mine(&[Op::Register]);
        rig.sync();
    }
    let old: Vec<Fr> = rig.view.lock().roots().iter().copied().collect();
    rig.chain.drop_blocks(20);
    for _ in 0..20 {
        rig.chain
            .mine(&[Op::Register, Op::Erase { at: 7, fully: true }]);
    }
    rig.sync();
    rig.check();
    assert!(old[30..].iter().all(|root| rig.accepts(*root)), "orphans");
    rig.restart();
    assert!(
        old[30..].iter().all(|root| rig.accepts(*root)),
        "after a restart"
    );
    for _ in 0..ORPHAN_BLOCKS {
        rig.chain.mine(&[]);
        rig.sync();
    }
    assert!(
        old[30..].iter().all(|root| rig.accepts(*root)),
        "up to the last block"
    );
    rig.chain.mine(&[]);
    rig.sync();
    assert!(!old[30..].iter().any(|root| rig.accepts(*root)), "gone");
    assert_eq!(rig.view.lock().roots().len(), WINDOW);
    rig.check();
}

/// An endpoint that omits events is detected; without another endpoint, the leaves are read.
#[test]
fn events_that_are_left_out() {
    let mut rig = Rig::new(Telling::Little, Range::new(100, 100));
    rig.chain.mine(&[Op::Register; 3]);
    rig.sync();
    rig.chain.mine(&[Op::Register; 2]);
    let mut mismatches = 0;
    rig.follower.wake();
    for _ in 0..50 {
        let Next::Ask(ask) = rig.follower.next() else {
            break;
        };
        let answer = match ask {
            Ask::Events { .. } => Answer::Events(Vec::new()),
            ask => rig.chain.answer(&ask).unwrap(),
        };
        let outcome = rig.follower.answer(answer).unwrap();
        mismatches += u32::from(outcome == Outcome::Mismatch);
    }
    assert_eq!(
        mismatches, 1,
        "told once, so that another endpoint is asked"
    );
    rig.check();
}

/// An older head is not a reorganisation as long as its blocks are known.
#[test]
fn an_endpoint_that_lags() {
    let mut rig = Rig::new(Telling::All, small());
    for _ in 0..10 {
        rig.chain.mine(&[Op::Register]);
        rig.sync();
    }
    let version = rig.store.version().unwrap();
    rig.chain.drop_blocks(4);
    let mut behind = 0;
    for _ in 0..MAX_BEHIND {
        rig.follower.wake();
        while let Some(outcome) = rig.step() {
            behind += u32::from(matches!(
                outcome,
                Outcome::Behind {
                    newest: 6,
                    known: 10
                }
            ));
        }
    }
    assert_eq!(
        (behind, rig.store.version().unwrap()),
        (MAX_BEHIND, version)
    );
    rig.sync();
    rig.check();
}

/// A chain without any known block must be reported several times before it is accepted.
#[test]
fn a_chain_that_begins_anew() {
    let mut rig = Rig::new(Telling::All, small());
    rig.chain.mine(&[Op::Register]);
    rig.sync();
    rig.chain.drop_blocks(1);
    for _ in 0..3 {
        rig.chain.mine(&[Op::Register]);
    }
    rig.follower.wake();
    let mut unknown_forks = 0;
    while let Some(outcome) = rig.step() {
        unknown_forks += u32::from(outcome == Outcome::UnknownFork);
    }
    assert_eq!(unknown_forks, MAX_UNKNOWN_FORKS - 1);
    rig.check();
}

/// A root returns when a leaf is emptied: undoing the later state must not remove the earlier one.
#[test]
fn a_chain_that_is_shorter_and_ends_at_a_root_seen_twice() {
    let mut rig = Rig::new(Telling::All, small());
    rig.chain.mine(&[Op::Register]);
    rig.sync();
    rig.chain.mine(&[Op::Register]);
    rig.sync();
    rig.chain.mine(&[Op::Erase { at: 1, fully: true }]);
    rig.sync();
    rig.chain.mine(&[Op::Register]);
    rig.sync();
    rig.chain.drop_blocks(3);
    rig.sync();
    rig.check();
}

/// The leaf was read as of block 4; the state stored for block 1 is not the contract's of that block.
#[test]
fn a_leaf_that_was_read_is_compared_again_when_its_block_is_gone() {
    let mut rig = Rig::new(Telling::Little, small());
    rig.chain
        .mine(&[Op::Register, Op::Erase { at: 0, fully: true }]);
    (0..3).for_each(|_| rig.chain.mine(&[]));
    rig.sync();
    rig.chain.drop_blocks(3);
    rig.restart();
    rig.sync();
    rig.check();
}

/// The blocks of the first page are abandoned when the second is requested, with another head or not.
#[test]
fn pages_of_two_forks_are_not_put_together() {
    for (empty_blocks, depth) in [(3, 4), (4, 6)] {
        let mut rig = Rig::new(Telling::Roots, small());
        rig.chain.mine(&[]);
        rig.chain.mine(&[]);
        rig.chain.mine(&[Op::Register; 2]);
        (0..empty_blocks).for_each(|_| rig.chain.mine(&[]));
        rig.follower.wake();
        while rig.follower.block() < 3 {
            rig.step();
        }
        rig.chain.drop_blocks(depth);
        rig.chain.mine(&[]);
        rig.chain.mine(&[]);
        rig.chain.mine(&[Op::Register]);
        rig.chain.mine(&[Op::Register]);
        rig.follower.failed(RequestFailure::TooMuch);
        rig.sync();
        rig.check();
        let view = rig.view.lock();
        let made_up = view.roots().iter().filter(|r| !rig.chain.roots.contains(r));
        assert_eq!(made_up.count(), 0);
    }
}

#[derive(Clone, Debug)]
enum Act {
    Mine(Vec<Op>),
    Reorganise {
        depth: usize,
        blocks: Vec<Vec<Op>>,
    },
    Restart,
    Sync,
    /// Answers this number of requests.
    Answer(u8),
    Fail(bool),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => Just(Op::Register),
        1 => (0..40u32, any::<bool>()).prop_map(|(at, fully)| Op::Erase { at, fully }),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let block = || prop::collection::vec(op(), 0..4);
    prop_oneof![
        6 => block().prop_map(Act::Mine),
        2 => (1..25usize, prop::collection::vec(block(), 0..28))
            .prop_map(|(depth, blocks)| Act::Reorganise { depth, blocks }),
        2 => Just(Act::Restart),
        3 => Just(Act::Sync),
        4 => (1..6u8).prop_map(Act::Answer),
        2 => any::<bool>().prop_map(Act::Fail),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// After any sequence of acts the final state is the chain's; and no root is accepted that the
    /// contract never had, unless leaves had to be read: pages of two forks do not fit together.
    #[test]
    fn any_history(
        telling in prop_oneof![Just(Telling::Roots), Just(Telling::All)],
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let rig = play(telling, acts);
        let view = rig.view.lock();
        for root in view.roots().iter() {
            prop_assert!(rig.repaired || rig.chain.roots.contains(root));
        }
    }

    /// If the events report little, leaves are read; roots in between may never have existed.
    #[test]
    fn any_history_told_badly(acts in prop::collection::vec(act(), 1..60)) {
        play(Telling::Little, acts);
    }
}

fn play(telling: Telling, acts: Vec<Act>) -> Rig {
    let mut rig = Rig::new(telling, small());
    for act in acts {
        match act {
            Act::Mine(ops) => rig.chain.mine(&ops),
            Act::Reorganise { depth, blocks } => {
                rig.chain.drop_blocks(depth);
                blocks.iter().for_each(|ops| rig.chain.mine(ops));
            }
            Act::Restart => rig.restart(),
            Act::Sync => {
                rig.sync();
                rig.check();
            }
            Act::Answer(count) => {
                rig.follower.wake();
                (0..count).for_each(|_| {
                    rig.step();
                });
            }
            Act::Fail(too_much) if too_much => rig.follower.failed(RequestFailure::TooMuch),
            Act::Fail(_) => rig.follower.failed(RequestFailure::Other),
        }
    }
    rig.sync();
    rig.check();
    rig
}
