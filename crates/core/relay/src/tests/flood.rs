//! A flood of invalid proofs beside honest messages, in virtual time: one worker, the policy of real nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use undertone_gossip::{PeerIx, Time};
use undertone_rln::{BatchPolicy, Batcher, Job, VerifyCosts};

use super::fake_proof::{NOW_NS, proved_at};
use super::solo::{Solo, new_peer};
use crate::{Input, Output, ProofTicket};

const STEP: Duration = Duration::from_micros(100);
const STEPS_PER_S: u64 = 10_000;
/// Messages per second of all attackers together: 6 Mbit/s, more than twice what the worker could verify.
const FLOOD_PER_S: u64 = 2_000;
/// Number of the attacker's identities connected at a time. A disconnected one is replaced at once.
const ATTACKERS: u32 = 16;
const HONEST_PER_S: u64 = 20;
const HONEST: u32 = 1;
const SECONDS: u64 = 20;

struct Flood {
    solo: Solo,
    batcher: Batcher<ProofTicket, PeerIx>,
    costs: VerifyCosts,
    /// Batch that the worker is verifying, and the time of its end.
    working: Option<(Time, Vec<ProofTicket>)>,
    /// First sender of each proof.
    senders: BTreeMap<ProofTicket, PeerIx>,
    paused: BTreeSet<PeerIx>,
    attackers: Vec<u32>,
    identities: u32,
    bad_checked: u32,
    sent: BTreeMap<String, Time>,
    delays: Vec<Duration>,
    messages: u64,
}

impl Flood {
    fn new() -> Self {
        let costs = VerifyCosts::default();
        let mut flood = Self {
            solo: Solo::new(),
            batcher: Batcher::new(BatchPolicy::default(), costs),
            costs,
            working: None,
            senders: BTreeMap::new(),
            paused: BTreeSet::new(),
            attackers: Vec::new(),
            identities: 0,
            bad_checked: 0,
            sent: BTreeMap::new(),
            delays: Vec::new(),
            messages: 0,
        };
        (0..ATTACKERS).for_each(|_| flood.new_attacker());
        flood
    }

    fn new_attacker(&mut self) {
        let attacker = 100 + self.identities;
        self.identities += 1;
        self.attackers.push(attacker);
        self.input(Input::Connected(new_peer(attacker)));
    }

    fn input(&mut self, input: Input) {
        let outputs = self.solo.input(input);
        self.react(outputs);
    }

    fn react(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::VerifyProof { ticket, from, .. } => {
                    let from = from.unwrap();
                    self.senders.insert(ticket, from);
                    self.batcher.push(ticket, from);
                }
                Output::MoveProof { ticket, from } => {
                    let waiting = self.batcher.remove(|t| *t == ticket);
                    waiting
                        .into_iter()
                        .for_each(|ticket| self.batcher.push(ticket, from));
                }
                Output::DropProof { ticket } => {
                    self.batcher.remove(|t| *t == ticket);
                }
                Output::Reading {
                    peer,
                    is_paused: true,
                } => {
                    self.paused.insert(peer);
                }
                Output::Reading { peer, .. } => {
                    self.paused.remove(&peer);
                }
                Output::Disconnect(peer) => {
                    self.attackers.retain(|attacker| *attacker != peer.0);
                    self.input(Input::Disconnected(peer));
                    self.new_attacker();
                }
                Output::Deliver { message, .. } => {
                    let text = String::from_utf8(message.payload.to_vec()).unwrap();
                    let sent = self.sent.remove(&text).expect("an honest message, once");
                    let delay_ns = self.solo.now.as_nanos() - sent.as_nanos();
                    self.delays.push(Duration::from_nanos(delay_ns));
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, peer: u32) {
        if self.paused.contains(&PeerIx(peer)) {
            return;
        }
        self.messages += 1;
        let text = self.messages.to_string();
        if peer == HONEST {
            self.sent.insert(text.clone(), self.solo.now);
        }
        let at_ns = NOW_NS + self.solo.now.as_nanos();
        let message = proved_at(&text, self.messages, at_ns);
        let outputs = self.solo.receive_message(peer, &message);
        self.react(outputs);
    }

    fn work(&mut self) {
        let now = self.solo.now;
        if self
            .working
            .as_ref()
            .is_some_and(|(until, _)| *until <= now)
            && let Some((_, tickets)) = self.working.take()
        {
            for ticket in tickets {
                let from = self.senders[&ticket];
                let valid = from.0 == HONEST;
                if valid {
                    self.batcher.good_proof(from);
                } else {
                    self.batcher.bad_proof(from, now.as_nanos());
                    self.bad_checked += 1;
                }
                self.input(Input::ProofVerified { ticket, valid });
            }
        }
        if self.working.is_none()
            && let Some(job) = self.batcher.next_job(now.as_nanos())
        {
            let cost_ns = match &job {
                Job::Single(_) => self.costs.single_ns,
                Job::Batch(proofs) => self.costs.batch_ns(proofs.len()),
            };
            let until = now.after(Duration::from_nanos(cost_ns));
            self.working = Some((until, job.tickets().to_vec()));
        }
    }

    fn run(&mut self) {
        for step in 0..SECONDS * STEPS_PER_S {
            self.solo.now = self.solo.now.after(STEP);
            if self.solo.relay.next_timeout() <= self.solo.now {
                self.input(Input::Tick);
            }
            if step % (STEPS_PER_S / HONEST_PER_S) == 0 {
                self.send(HONEST);
            }
            if step % (STEPS_PER_S / FLOOD_PER_S) == 0 {
                let turn = (step / (STEPS_PER_S / FLOOD_PER_S)) as usize;
                let attacker = self.attackers[turn % self.attackers.len()];
                self.send(attacker);
            }
            self.work();
        }
    }
}

#[test]
fn bad_proofs_of_many_identities_delay_honest_messages_by_milliseconds() {
    let mut flood = Flood::new();
    flood.run();
    let delays = &flood.delays;
    assert_eq!(delays.len() as u64, SECONDS * HONEST_PER_S, "all delivered");
    // The first message comes from a newcomer among newcomers, each of which has its turn.
    let (first, later) = delays.split_first().unwrap();
    assert!(*first < Duration::from_millis(30), "{first:?}");
    let longest = later.iter().max().unwrap();
    assert!(*longest < Duration::from_millis(5), "{longest:?}");
    // Eleven invalid proofs disconnect an identity.
    assert!(flood.identities > ATTACKERS, "the attack is under way");
    assert!(flood.bad_checked <= 11 * flood.identities);
}
