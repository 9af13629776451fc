//! Thousands of registrations while a network of relays carries messages, in virtual time: relays learn of
//! them at different times, and drop no valid message.

use std::collections::BTreeSet;

use undertone_message::WakuMessage;
use undertone_rln::Fr;

use super::fake_proof::{CONTENT_TOPIC, config, window};
use super::net::Net;
use super::solo::{delivered, rejections};
use crate::Input;

const NODES: usize = 50;
/// Number of nodes that learn of a registration at once, so that their proofs are ahead of the others.
const QUICK: usize = 4;
const REGISTRATIONS: u64 = 3_000;
const FIRST_MEMBERS: u64 = 60;
const WINDOW: u64 = 50;

/// Length of one step of the test, milliseconds.
const STEP_MS: u64 = 100;
/// Steps between polls of the registry when no root is missing: 4 s.
const POLL: u64 = 40;
/// Longest time until the registry answers, in steps: 2 s.
const MAX_ANSWER: u64 = 20;
/// Steps after the last registration, for every answer and the messages that wait for it.
const SETTLE: u64 = 200;

/// SplitMix64, a random generator; its seed replays everything.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Root after `version` registrations. The relay never looks at the tree.
fn root(version: u64) -> Fr {
    Fr::from(1_000_000 + version)
}

/// Progress of one node in following the registry.
#[derive(Default)]
struct Follower {
    /// Version in the answer that is on its way, and the step at which it arrives.
    asked: Option<(u64, u64)>,
    poll_at: u64,
}

struct Crowd {
    net: Net,
    followers: Vec<Follower>,
    random: Random,
    registered: u64,
    published: usize,
    /// Node and text of each delivered message.
    heard: BTreeSet<(usize, String)>,
    /// Number of steps at whose end a node held a message with an unknown root.
    waits: u64,
}

impl Crowd {
    fn new(patience_ns: u64) -> Self {
        let mut config = config();
        config.rln.as_mut().unwrap().unknown_root_timeout_ns = patience_ns;
        let around = |hop: usize| (0..NODES).map(move |node| (node, (node + hop) % NODES));
        let links: Vec<_> = [1, 3, 7].into_iter().flat_map(around).collect();
        let mut crowd = Self {
            net: Net::forged_with(&config, NODES, 1).linked(&links),
            followers: (0..NODES).map(|_| Follower::default()).collect(),
            random: Random(1),
            registered: FIRST_MEMBERS,
            published: 0,
            heard: BTreeSet::new(),
            waits: 0,
        };
        (0..NODES).for_each(|node| crowd.learn(node, FIRST_MEMBERS));
        crowd
    }

    fn learn(&mut self, node: usize, version: u64) {
        let roots: Vec<_> = (version + 1 - WINDOW..=version).map(root).collect();
        self.net.proves_by[node] = root(version);
        self.net.input(node, Input::Roots(window(&roots)));
    }

    /// Simulates the drivers: polls, requested look-ups, answers.
    fn follow(&mut self, step: u64) {
        for node in 0..NODES {
            if let Some((version, at)) = self.followers[node].asked
                && at <= step
            {
                self.followers[node].asked = None;
                self.learn(node, version);
            }
            let is_wanted = self.net.relays[node].wants_roots();
            self.waits += u64::from(is_wanted);
            let follower = &mut self.followers[node];
            let is_due = is_wanted || step >= follower.poll_at || node < QUICK;
            if follower.asked.is_none() && is_due {
                let answer = match node < QUICK {
                    true => 0,
                    false => self.random.below(MAX_ANSWER),
                };
                follower.asked = Some((self.registered, step + answer));
                follower.poll_at = step + POLL;
            }
        }
    }

    fn step(&mut self, step: u64, publishes: bool) {
        self.follow(step);
        if publishes && self.random.below(10) == 0 {
            let node = self.random.below(NODES as u64) as usize;
            let text = self.published.to_string();
            self.published += 1;
            let message = WakuMessage::new(text.into_bytes(), CONTENT_TOPIC);
            self.net.publish(node, message);
        }
        self.net.run_ms(STEP_MS);
        self.net.arrivals.clear();
        for (_, node, output) in std::mem::take(&mut self.net.outputs) {
            let output = [output];
            assert_eq!(rejections(&output), [], "node {node}, step {step}");
            for message in delivered(&output) {
                let text = String::from_utf8(message.payload.to_vec()).unwrap();
                assert!(self.heard.insert((node, text)), "delivered twice");
            }
        }
    }

    fn run(&mut self) {
        let mut step = 0;
        while self.registered < FIRST_MEMBERS + REGISTRATIONS {
            // Registrations one by one, and some at once, about every 400 ms.
            self.registered += match self.random.below(100) {
                0 => 5,
                1..=20 => 1,
                _ => 0,
            };
            self.step(step, true);
            step += 1;
        }
        (step..step + SETTLE).for_each(|step| self.step(step, false));
    }
}

#[test]
fn no_valid_message_is_refused_while_thousands_register() {
    let mut crowd = Crowd::new(12_000_000_000);
    crowd.run();
    assert!(crowd.published > 500, "{} messages", crowd.published);
    assert_eq!(crowd.heard.len(), NODES * crowd.published);
    assert!(crowd.waits > 1_000, "{} waits: no races", crowd.waits);
}

#[test]
#[should_panic(expected = "UnknownRoot")]
fn without_patience_it_is() {
    Crowd::new(0).run();
}
