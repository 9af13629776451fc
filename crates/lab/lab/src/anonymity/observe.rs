//! What observers see of each message.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_sim::Outcome;

use super::estimate::{Estimator, Guess};
use super::figures::Attempt;
use super::known::KnownNetwork;

/// First copy of a message at an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Node that sent the copy.
    pub from: u32,
    /// Time at which the observer got it, nanoseconds.
    pub at_ns: u64,
    /// The same less the delay of the connection: about when it was sent, nanoseconds.
    pub sent_ns: u64,
}

/// Observers of a run, with what they saw.
#[derive(Debug)]
pub struct Observers {
    numbers: BTreeSet<u32>,
    /// Sightings of each message, the first one first.
    sightings: BTreeMap<u32, Vec<Sighting>>,
}

impl Observers {
    /// Makes a share of the network's own nodes observers, chosen at random by a seed. They behave as all nodes do.
    pub fn passive(network: &KnownNetwork, outcome: &Outcome, share: f64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut free: Vec<u32> = (0..network.nodes()).collect();
        let count = (f64::from(network.nodes()) * share).round() as usize;
        let numbers = (0..count.min(free.len())).map(|_| {
            let chosen = rng.next_u64() % free.len() as u64;
            free.swap_remove(chosen as usize)
        });
        let numbers: BTreeSet<u32> = numbers.collect();
        let mut sightings = BTreeMap::new();
        for own in &outcome.deliveries {
            if numbers.contains(&own.receiver) {
                let sighting = network.sighting(own.from, own.receiver, own.received_ns);
                note(&mut sightings, own.message, sighting);
            }
        }
        Self::new(numbers, sightings)
    }

    /// Takes the adversaries of a run as observers; they may connect as widely as they like.
    pub fn adversaries(network: &KnownNetwork, outcome: &Outcome) -> Self {
        let mut numbers = BTreeSet::new();
        let mut sightings = BTreeMap::new();
        for heard in outcome.attack.iter().flat_map(|attack| &attack.heard) {
            numbers.insert(heard.observer);
            let sighting = network.sighting(heard.from, heard.observer, heard.at_ns);
            note(&mut sightings, heard.message, sighting);
        }
        Self::new(numbers, sightings)
    }

    fn new(numbers: BTreeSet<u32>, mut sightings: BTreeMap<u32, Vec<Sighting>>) -> Self {
        for all in sightings.values_mut() {
            all.sort_by_key(|sighting| sighting.at_ns);
        }
        Self { numbers, sightings }
    }

    /// Guesses the publisher of each counted message that no observer published itself.
    pub fn attempts(
        &self,
        network: &mut KnownNetwork,
        outcome: &Outcome,
        estimator: Estimator,
    ) -> Vec<Attempt> {
        let nodes = 0..network.nodes();
        let suspects: Vec<u32> = nodes.filter(|node| !self.numbers.contains(node)).collect();
        let of_others = outcome
            .messages
            .iter()
            .filter(|message| !message.warm_up && !self.numbers.contains(&message.publisher));
        let attempts = of_others.map(|message| {
            let sightings = self.sightings.get(&message.index);
            let sightings = sightings.map_or(&[][..], Vec::as_slice);
            Attempt {
                publisher: message.publisher,
                suspects: suspects.len(),
                guess: Guess::new(estimator, sightings, &suspects, network),
            }
        });
        attempts.collect()
    }
}

fn note(sightings: &mut BTreeMap<u32, Vec<Sighting>>, message: u32, sighting: Sighting) {
    sightings.entry(message).or_default().push(sighting);
}
