//! Several members over a network that loses, delays, reorders and duplicates, in virtual time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rand_core::RngCore as _;

use super::*;
use crate::{BLOOM_BYTES, Id};

/// Longest virtual time of a run.
const END: Time = Time::from_millis(4 * 3_600_000);

struct Network {
    members: Vec<Member>,
    in_flight: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    next_no: u64,
    rng: ChaCha8Rng,
    loss_percent: u64,
    /// Naive model of causality: for each message, all messages that its sender had when it was sent.
    past: BTreeMap<Id, BTreeSet<Id>>,
    /// Frames by id, for members whose driver has a store.
    store: Option<BTreeMap<Id, Vec<u8>>>,
    now: Time,
}

struct Member {
    channel: Channel,
    config: SdsConfig,
    kept: Vec<u8>,
    has: BTreeSet<Id>,
    acknowledged: BTreeSet<Id>,
}

impl Network {
    fn new(count: usize, seed: u64, loss_percent: u64, change: impl Fn(&mut SdsConfig)) -> Self {
        let member = |n: usize| {
            let mut config = config(&format!("member {n}"));
            // Longer than any run, so that nothing may be missed.
            config.lost_after_ms = 24 * 3_600_000;
            change(&mut config);
            let channel = Channel::new(Time::ZERO, config.clone(), rng(seed + n as u64));
            Member {
                kept: channel.state(),
                channel,
                config,
                has: BTreeSet::new(),
                acknowledged: BTreeSet::new(),
            }
        };
        Self {
            members: (0..count).map(member).collect(),
            in_flight: BTreeMap::new(),
            next_no: 0,
            rng: rng(seed),
            loss_percent,
            past: BTreeMap::new(),
            store: None,
            now: Time::ZERO,
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.rng.next_u64() % 100 < percent
    }

    fn post(&mut self, to: usize, bytes: &[u8]) {
        let delay_ms = 20 + self.rng.next_u64() % 3_000;
        self.next_no += 1;
        let at = self.now.after(Duration::from_millis(delay_ms));
        self.in_flight
            .insert((at, self.next_no), (to, bytes.to_vec()));
    }

    fn broadcast(&mut self, from: usize, bytes: &[u8]) {
        for to in 0..self.members.len() {
            let copies = if self.chance(10) { 2 } else { 1 };
            for _ in 0..copies {
                if to != from && !self.chance(self.loss_percent) {
                    self.post(to, bytes);
                }
            }
        }
    }

    fn send(&mut self, from: usize) {
        let id: Id = format!("m{}", self.past.len()).into();
        self.past.insert(id.clone(), self.members[from].has.clone());
        self.members[from].has.insert(id.clone());
        let payload = format!("content of {id}").into_bytes();
        self.give(from, Input::Send { id, payload });
    }

    fn give(&mut self, to: usize, input: Input) {
        self.members[to].channel.handle(self.now, input);
        while let Some(output) = self.members[to].channel.poll() {
            self.carry_out(to, output);
        }
    }

    fn carry_out(&mut self, member: usize, output: Output) {
        match output {
            Output::Persist => self.members[member].kept = self.members[member].channel.state(),
            Output::Publish { bytes, reason, .. } => {
                if let (Some(store), PublishReason::Message(id)) = (&mut self.store, &reason) {
                    store.insert(id.clone(), bytes.to_vec());
                }
                self.broadcast(member, &bytes);
            }
            Output::Deliver { id, gaps, .. } => self.check(member, &id, &gaps),
            Output::Missing { entries } => {
                let Some(store) = &self.store else {
                    return;
                };
                let found = entries
                    .iter()
                    .filter_map(|entry| store.get(&entry.message_id));
                let found: Vec<Vec<u8>> = found.cloned().collect();
                found.iter().for_each(|frame| self.post(member, frame));
            }
            Output::Acknowledged { id } => {
                assert!(self.members[member].acknowledged.insert(id));
            }
            Output::Lost { ids } => {
                let honest = ids.iter().filter(|id| self.past.contains_key(*id));
                assert_eq!(honest.count(), 0, "lost: {ids:?}");
            }
            Output::SendRefused { id, error } => panic!("{id}: {error}"),
            Output::PossiblyAcknowledged { .. }
            | Output::Unconfirmed { .. }
            | Output::Refused(_) => {}
        }
    }

    /// Compares a delivery with the model. Messages unknown to the model come from a liar.
    fn check(&mut self, member: usize, id: &Id, gaps: &[Id]) {
        let Some(past) = self.past.get(id) else {
            return;
        };
        assert!(
            !gaps.iter().any(|id| self.past.contains_key(id)),
            "{id} has gaps: {gaps:?}"
        );
        let has = &mut self.members[member].has;
        let early: Vec<&Id> = past.difference(has).collect();
        assert!(
            early.is_empty(),
            "member {member} has {id} before {early:?}"
        );
        assert!(has.insert(id.clone()), "member {member} has {id} twice");
    }

    /// Runs all events up to a time.
    fn run(&mut self, until: Time) {
        loop {
            let arrival = self.in_flight.first_key_value().map(|((at, _), _)| *at);
            let timers = self.members.iter().enumerate();
            let timers = timers.filter_map(|(n, it)| Some((it.channel.next_timeout()?, n)));
            let timer = timers.min();
            let next = arrival.into_iter().chain(timer.map(|(at, _)| at)).min();
            let Some(next) = next.filter(|at| *at <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if arrival == Some(next) {
                if let Some((_, (to, bytes))) = self.in_flight.pop_first() {
                    self.give(
                        to,
                        Input::Received {
                            bytes,
                            retrieval_hint: None,
                        },
                    );
                }
            } else if let Some((_, member)) = timer {
                self.give(member, Input::Tick);
            }
        }
        self.now = self.now.max(until);
    }

    /// Stops a member and recreates it from its persisted state.
    fn restart(&mut self, member: usize) {
        let member = &mut self.members[member];
        let seed = rng(self.rng.next_u64());
        let channel = Channel::restore(self.now, member.config.clone(), seed, &member.kept);
        member.channel = channel.unwrap();
    }

    fn is_complete(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.has.len() == self.past.len())
    }

    /// Runs until everybody has everything, and then compares the logs.
    fn finish(&mut self) {
        while !self.is_complete() && self.now < END {
            self.run(self.now.after(Duration::from_secs(60)));
        }
        for (n, member) in self.members.iter().enumerate() {
            let missing: Vec<&Id> = self
                .past
                .keys()
                .filter(|id| !member.has.contains(*id))
                .collect();
            assert!(missing.is_empty(), "member {n} never got {missing:?}");
        }
        let honest = |member: &Member| -> Vec<Id> {
            let log = member
                .channel
                .log()
                .filter(|id| self.past.contains_key(*id));
            log.cloned().collect()
        };
        let first = honest(&self.members[0]);
        assert_eq!(first.len(), self.past.len());
        for member in &self.members {
            assert_eq!(honest(member), first, "the logs differ");
        }
    }
}

#[test]
fn everybody_gets_everything_in_causal_order_though_a_third_is_lost() {
    for seed in 0..6 {
        println!("seed {seed}");
        let mut network = Network::new(5, seed, 30, |_| {});
        for _ in 0..60 {
            let from = (network.rng.next_u64() % 5) as usize;
            network.send(from);
            let pause_ms = network.rng.next_u64() % 4_000;
            network.run(network.now.after(Duration::from_millis(pause_ms)));
        }
        network.finish();
        network.run(network.now.after(Duration::from_secs(1_200)));
        assert!(
            network
                .members
                .iter()
                .all(|member| !member.channel.has_unacknowledged())
        );
        let acknowledged: usize = network.members.iter().map(|it| it.acknowledged.len()).sum();
        assert_eq!(acknowledged, 60);
    }
}

#[test]
fn a_store_fills_gaps_without_repair() {
    let mut network = Network::new(4, 1, 40, |config| {
        config.repair = None;
        config.max_resends = 0;
    });
    network.store = Some(BTreeMap::new());
    for n in 0..40 {
        network.send(n % 4);
        network.run(network.now.after(Duration::from_millis(700)));
    }
    network.finish();
}

#[test]
fn a_member_that_restarts_often_misses_nothing() {
    for seed in 0..4 {
        println!("seed {seed}");
        let mut network = Network::new(4, seed, 30, |_| {});
        for n in 0..60 {
            network.send(n % 4);
            network.run(network.now.after(Duration::from_millis(1_500)));
            if n % 5 == 0 {
                network.restart(2);
            }
        }
        network.finish();
    }
}

#[test]
fn a_member_that_comes_late_gets_the_whole_history() {
    let mut network = Network::new(4, 7, 20, |_| {});
    network.loss_percent = 100;
    let last = network.members.pop().unwrap();
    network.loss_percent = 20;
    for n in 0..30 {
        network.send(n % 3);
        network.run(network.now.after(Duration::from_millis(5_000)));
    }
    network.members.push(last);
    network.finish();
}

/// Sends one malicious message to everybody.
fn lie(network: &mut Network, n: u64) {
    let ms = network.now.as_nanos() / 1_000_000;
    let id = format!("lie {n}");
    let mut frame = match n % 6 {
        0 => forged(&id, u64::MAX - n, &[]),
        1 => forged(&id, START_MS + ms + 3_000_000, &[]),
        2 => forged(&id, START_MS + ms, &[&format!("lie {}", n + 1), "nothing"]),
        3 => forged(&id, START_MS, &[&format!("lie {}", n - 1)]),
        4 => {
            let mut sync = forged(&id, START_MS, &["nothing", &id]);
            sync.content = None;
            sync.bloom_filter = Some(vec![0xff; BLOOM_BYTES]);
            let wanted = network.past.keys().rev().take(16);
            sync.repair_request = wanted
                .map(|id| CausalHistoryEntry::new(id.clone()))
                .collect();
            sync
        }
        _ => {
            let mut giant = forged(&id, START_MS, &[]);
            giant.content = Some(vec![0; 300_000]);
            giant
        }
    };
    frame.sender_id = format!("member {}", n % 7).into();
    let bytes = frame.encode();
    for to in 0..network.members.len() {
        network.post(to, &bytes);
    }
}

#[test]
fn a_liar_stops_nobody() {
    for seed in 0..3 {
        println!("seed {seed}");
        // Messages invented by the liar must eventually count as lost.
        let mut network = Network::new(4, seed, 20, |config| config.lost_after_ms = 3_000_000);
        for n in 0..40 {
            network.send(n % 4);
            for k in 0..5 {
                lie(&mut network, 5 * n as u64 + k);
            }
            network.run(network.now.after(Duration::from_millis(1_500)));
        }
        network.finish();
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Send(usize),
    Restart(usize),
    Wait(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..5_usize).prop_map(Step::Send),
        1 => (0..5_usize).prop_map(Step::Restart),
        3 => (0..20_000_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_schedules_agree_with_the_model(
        steps in proptest::collection::vec(any_step(), 1..40),
        count in 2..6_usize,
        loss_percent in 0..40_u64,
        seed in any::<u32>(),
    ) {
        let mut network = Network::new(count, u64::from(seed), loss_percent, |config| {
            // With fewer entries than concurrent messages, a message would not name all its predecessors.
            config.causal_history = 64;
        });
        for step in steps {
            match step {
                Step::Send(member) => network.send(member % count),
                Step::Restart(member) => network.restart(member % count),
                Step::Wait(ms) => network.run(network.now.after(Duration::from_millis(ms))),
            }
        }
        network.finish();
    }
}
