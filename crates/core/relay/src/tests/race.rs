//! Registrations while messages are in transit, in virtual time: a relay that learns of them late drops
//! no valid message.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use proptest::prelude::*;
use undertone_gossip::Time;
use undertone_membership::{
    Change, ChangeKind, MemberIndex, MembershipLog, MembershipView, RegistryError, RegistryId,
    Version,
};
use undertone_rln::{Fr, MerkleTree, ProofRejection as Why, fr_to_le, rate_commitment};

use super::fake_proof::{NOW_NS, attach, config, plain_at, proof_of};
use super::solo::{Solo, delivered, rejections, tickets};
use crate::{Input, Output, Rejection};

const WINDOW: usize = 50;
const PATIENCE: Duration = Duration::from_secs(12);
/// Time between polls of the registry when no root is missing.
const POLL: Duration = Duration::from_secs(4);
/// Longest time until the registry reports a change: the query in progress and the next one. It never
/// answers at once, because a missing root is requested again and again.
const MAX_ANSWER_MS: u64 = 5_900;
const LIMIT: u32 = 20;
/// Three neighbours have room for 16 waiting messages each.
const MAX_STEPS: usize = 48;
const FIRST_MEMBERS: u64 = 60;

/// A registry in which the first `.0` changes have been made.
struct Log(u64);

fn commitment(version: u64) -> Fr {
    Fr::from(version)
}

fn change(version: u64) -> Change {
    Change {
        version: Version(version),
        index: MemberIndex::new(version as u32 - 1).unwrap(),
        kind: ChangeKind::Registered {
            commitment: commitment(version),
            limit: LIMIT,
        },
    }
}

/// Root of each version, by a separate tree.
fn roots() -> &'static [Fr] {
    static ROOTS: OnceLock<Vec<Fr>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut tree = MerkleTree::new();
        let mut roots = vec![tree.root()];
        for version in 1..=FIRST_MEMBERS + MAX_STEPS as u64 {
            let leaf = rate_commitment(commitment(version), LIMIT);
            tree.set(version as u32 - 1, leaf).unwrap();
            roots.push(tree.root());
        }
        roots
    })
}

/// A view of the first members only.
fn first_members() -> MembershipView {
    static VIEW: OnceLock<MembershipView> = OnceLock::new();
    let view = VIEW.get_or_init(|| {
        let mut view = MembershipView::new(WINDOW);
        view.refresh(&Log(FIRST_MEMBERS)).unwrap();
        view
    });
    view.clone()
}

impl MembershipLog for Log {
    fn id(&self) -> RegistryId {
        RegistryId([1; 16])
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(Version(self.0))
    }

    fn changes_since(&self, known: Version, most: usize) -> Result<Vec<Change>, RegistryError> {
        Ok((known.0 + 1..=self.0).map(change).take(most).collect())
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A new member registers.
    Register,
    /// A message arrives that was proved against the root `behind` changes ago.
    Message { behind: u64 },
    /// A message arrives with a root that never existed.
    MadeUp,
}

/// A step, and the time since the previous one in milliseconds.
fn step() -> impl Strategy<Value = (u64, Step)> {
    let step = prop_oneof![
        4 => Just(Step::Register),
        4 => prop_oneof![3 => Just(0), 1 => 0..WINDOW as u64]
            .prop_map(|behind| Step::Message { behind }),
        1 => Just(Step::MadeUp),
    ];
    (prop_oneof![3 => 0..400_u64, 1 => 0..6_000_u64], step)
}

/// A relay with its view of the registry, and the fate of the messages.
struct Race {
    solo: Solo,
    view: MembershipView,
    version: u64,
    answer: Duration,
    /// Version in the answer that is on its way, and the time at which it arrives.
    asked: Option<(u64, Time)>,
    poll_at: Time,
    /// Arrival times of the valid messages, by text.
    valid: BTreeMap<String, Time>,
    made_up: usize,
    refused: usize,
}

impl Race {
    fn new(answer_ms: u64) -> Self {
        let mut config = config();
        config.rln.as_mut().unwrap().unknown_root_timeout_ns = PATIENCE.as_nanos() as u64;
        let mut race = Self {
            solo: Solo::with(config),
            view: first_members(),
            version: FIRST_MEMBERS,
            answer: Duration::from_millis(answer_ms),
            asked: None,
            poll_at: Time::ZERO,
            valid: BTreeMap::new(),
            made_up: 0,
            refused: 0,
        };
        let roots = race.view.roots().clone();
        race.solo.input(Input::Roots(roots));
        race.poll_at = race.solo.now.after(POLL);
        race
    }

    fn learn(&mut self, version: u64) {
        if self.view.refresh(&Log(version)).unwrap() {
            let outputs = self.solo.input(Input::Roots(self.view.roots().clone()));
            self.settle(outputs);
        }
    }

    /// Answers verifications, and counts delivered and refused messages.
    fn settle(&mut self, mut outputs: Vec<Output>) {
        while !outputs.is_empty() {
            for (_, reason) in rejections(&outputs) {
                let window_len = WINDOW;
                assert_eq!(reason, Rejection::Proof(Why::UnknownRoot { window_len }));
                self.refused += 1;
            }
            for message in delivered(&outputs) {
                let name = String::from_utf8(message.payload.to_vec()).unwrap();
                let came = self.valid.remove(&name).expect("valid, and delivered once");
                assert!(self.solo.now <= came.after(2 * self.answer));
            }
            let proofs = tickets(&outputs);
            let answered = proofs
                .into_iter()
                .map(|ticket| self.solo.answer(ticket, true));
            outputs = answered.flatten().collect();
        }
    }

    /// Simulates the driver: timers, polls, and requested look-ups.
    fn run_until(&mut self, end: Time) {
        loop {
            if self.asked.is_none()
                && (self.solo.relay.wants_roots() || self.solo.now >= self.poll_at)
            {
                self.asked = Some((self.version, self.solo.now.after(self.answer)));
                self.poll_at = self.solo.now.after(POLL);
            }
            let look = self.asked.map_or(self.poll_at, |(_, at)| at);
            let next = look.min(self.solo.relay.next_timeout());
            if next > end {
                self.solo.now = end;
                return;
            }
            self.solo.now = self.solo.now.max(next);
            if let Some((version, at)) = self.asked
                && at <= self.solo.now
            {
                self.asked = None;
                self.learn(version);
            }
            let outputs = self.solo.input(Input::Tick);
            self.settle(outputs);
        }
    }

    fn receive(&mut self, peer: u32, name: &str, nullifier: u64, root: Fr) {
        let message = plain_at(name, NOW_NS - 200_000_000 + self.solo.now.as_nanos());
        let mut proof = proof_of(&message, nullifier);
        proof.merkle_root = fr_to_le(&root);
        let outputs = self.solo.receive_message(peer, &attach(message, &proof));
        self.settle(outputs);
    }
}

proptest! {
    // `PROPTEST_CASES=20000` runs more cases.
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(2000, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_valid_message_is_refused(
        steps in prop::collection::vec(step(), 1..MAX_STEPS),
        answer_ms in 20..MAX_ANSWER_MS,
    ) {
        let mut race = Race::new(answer_ms);
        let mut at = race.solo.now;
        let mut times = Vec::new();
        for (gap_ms, step) in &steps {
            at = at.after(Duration::from_millis(*gap_ms));
            times.push((at, step));
        }
        for (number, (at, step)) in times.iter().enumerate() {
            race.run_until(*at);
            let peer = 1 + number as u32 % 3;
            match step {
                Step::Register => race.version += 1,
                Step::Message { behind } => {
                    // The root must be among the newest ones for as long as the message may wait.
                    let soon = at.after(2 * race.answer);
                    let coming = times[number..]
                        .iter()
                        .filter(|(at, step)| matches!(step, Step::Register) && *at <= soon);
                    let oldest = race.version + coming.count() as u64 + 1 - WINDOW as u64;
                    let root = (race.version - behind).max(oldest.min(race.version));
                    let name = number.to_string();
                    race.valid.insert(name.clone(), *at);
                    race.receive(peer, &name, number as u64, roots()[root as usize]);
                }
                Step::MadeUp => {
                    race.made_up += 1;
                    race.receive(peer, "made up", number as u64, Fr::from(number as u64));
                }
            }
        }
        race.run_until(at.after(PATIENCE));
        prop_assert!(race.valid.is_empty(), "never delivered: {:?}", race.valid);
        prop_assert_eq!(race.refused, race.made_up);
        prop_assert!(!race.solo.relay.wants_roots());
    }
}
