//! A plain evolution strategy: of each generation the best quarter has children, whose steps adapt by themselves
//! (Schwefel's self-adaptation). Everything that a generation depends on is in the state, so a search can be
//! interrupted between any two generations.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

/// Step of the first generation, as a share of a gene's range.
const FIRST_STEP: f64 = 0.25;
/// Smallest step; below it a search would stand still.
const STEP_MIN: f64 = 0.01;
/// Share of a generation that has children.
const PARENTS: usize = 4;

/// One candidate: a value from 0 to 1 for each gene, and the size of its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    /// Value of each gene, from 0 to 1.
    pub(crate) genes: Vec<f64>,
    step: f64,
}

/// A candidate with what it achieved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged<F> {
    /// The candidate.
    pub(crate) candidate: Candidate,
    /// What it achieved; less is better.
    pub(crate) cost: f64,
    /// Figures of its run.
    pub(crate) figures: F,
}

/// State of a search between two generations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evolution<F> {
    seed: u64,
    genes: usize,
    /// Number of generations so far.
    generation: u64,
    /// Number of candidates of a generation.
    size: usize,
    parents: Vec<Judged<F>>,
}

impl<F> Evolution<F> {
    /// Begins a search over a number of genes.
    pub(crate) fn new(seed: u64, genes: usize, size: usize) -> Self {
        Self {
            seed,
            genes,
            generation: 0,
            size: size.max(PARENTS),
            parents: Vec::new(),
        }
    }

    /// Candidates of the next generation. The same state always gives the same.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ self.generation << 32);
        let all = 0..self.size;
        all.map(|number| match self.parents.len() {
            0 => Candidate {
                genes: (0..self.genes).map(|_| unit(&mut rng)).collect(),
                step: FIRST_STEP,
            },
            parents => child(&self.parents[number % parents].candidate, &mut rng),
        })
        .collect()
    }

    /// Ends a generation: the best of it and of its parents become parents.
    pub(crate) fn select(&mut self, judged: Vec<Judged<F>>) {
        self.parents.extend(judged);
        self.parents.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        self.parents.truncate((self.size / PARENTS).max(1));
        self.generation += 1;
    }

    /// The best candidate so far.
    pub(crate) fn best(&self) -> Option<&Judged<F>> {
        self.parents.first()
    }
}

fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number from the normal distribution (Box and Muller).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}

fn child(parent: &Candidate, rng: &mut ChaCha8Rng) -> Candidate {
    let rate = 1.0 / (2.0 * parent.genes.len() as f64).sqrt();
    let step = (parent.step * (rate * normal(rng)).exp()).clamp(STEP_MIN, FIRST_STEP * 2.0);
    let genes = parent.genes.iter().map(|gene| {
        // A value beyond an end is reflected.
        let moved = (gene + step * normal(rng)).rem_euclid(2.0);
        if moved > 1.0 { 2.0 - moved } else { moved }
    });
    Candidate {
        genes: genes.collect(),
        step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, generations: u64) -> Evolution<()> {
        let mut evolution = Evolution::new(seed, 5, 24);
        for _ in 0..generations {
            let judged = evolution.candidates().into_iter().map(|candidate| {
                let distances = candidate.genes.iter().map(|gene| (gene - 0.9).abs());
                Judged {
                    cost: distances.sum(),
                    figures: (),
                    candidate,
                }
            });
            let judged = judged.collect();
            evolution.select(judged);
        }
        evolution
    }

    #[test]
    fn it_comes_close_to_the_best() {
        let best = run(1, 60).best().unwrap().clone();
        assert!(best.cost < 0.1, "{best:?}");
    }

    #[test]
    fn it_goes_on_from_its_file() {
        let text = serde_json::to_string(&run(3, 10)).unwrap();
        let mut again: Evolution<()> = serde_json::from_str(&text).unwrap();
        assert_eq!(again.candidates(), run(3, 10).candidates());
        again.select(Vec::new());
        assert_ne!(again.candidates(), run(3, 10).candidates());
    }

    #[test]
    fn genes_stay_in_their_range() {
        let evolution = run(5, 30);
        let all = evolution
            .candidates()
            .into_iter()
            .flat_map(|candidate| candidate.genes);
        assert!(all.into_iter().all(|gene| (0.0..=1.0).contains(&gene)));
    }
}
