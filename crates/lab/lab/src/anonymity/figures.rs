//! Figures of anonymity over many messages.

use std::collections::BTreeMap;

use serde::Serialize;

use super::estimate::{Guess, entropy_bits};

/// One attempt to name the publisher of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The node that published the message.
    pub publisher: u32,
    /// Number of nodes that may have published it.
    pub suspects: usize,
    /// What the observers believe.
    pub guess: Guess,
}

/// Figures over the attempts in one network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnonymityFigures {
    /// Number of messages.
    pub messages: usize,
    /// Share of the messages whose publisher is named. This is the recall, and the ratio of hits at the first attempt.
    pub hit_ratio: f64,
    /// Mean over the messages of 1 / (number of messages for which the same node is named) where it is right, 0 where
    /// it is wrong: the precision of Fanti et al., Dandelion++, 2018.
    pub precision: f64,
    /// Mean entropy of what the observers believe, bits. An estimator that names one node and no probabilities is
    /// believed as often as it hits, and otherwise all other suspects are equally likely.
    pub entropy_bits: f64,
}

impl AnonymityFigures {
    /// Computes the figures; `None` without attempts.
    pub fn of(attempts: &[Attempt]) -> Option<Self> {
        let mut named: BTreeMap<u32, usize> = BTreeMap::new();
        for publisher in attempts.iter().filter_map(|at| at.guess.publisher) {
            *named.entry(publisher).or_default() += 1;
        }
        let count = attempts.len() as f64;
        let hits = || {
            let is_hit = |attempt: &&Attempt| attempt.guess.publisher == Some(attempt.publisher);
            attempts.iter().filter(is_hit)
        };
        let hit_ratio = hits().count() as f64 / count;
        let precise = hits().map(|attempt| 1.0 / named[&attempt.publisher] as f64);
        let precise = precise.fold(0.0, |sum, one| sum + one);
        let entropies = attempts.iter().map(|attempt| {
            let of_guess = attempt.guess.entropy_bits();
            of_guess.unwrap_or_else(|| believed_bits(hit_ratio, attempt.suspects))
        });
        let entropy: f64 = entropies.sum();
        (!attempts.is_empty()).then_some(Self {
            messages: attempts.len(),
            hit_ratio,
            precision: precise / count,
            entropy_bits: entropy / count,
        })
    }
}

/// Entropy when one suspect has a probability and all others share the rest, bits.
fn believed_bits(share: f64, suspects: usize) -> f64 {
    let others = suspects.saturating_sub(1).max(1) as f64;
    entropy_bits([share, 1.0 - share].into_iter()) + (1.0 - share) * others.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(publisher: u32, named: Option<u32>) -> Attempt {
        let guess = Guess {
            publisher: named,
            posterior: None,
        };
        Attempt {
            publisher,
            suspects: 9,
            guess,
        }
    }

    #[test]
    fn a_node_that_is_always_named_is_not_precise() {
        let attempts = [0, 1, 2, 3].map(|publisher| attempt(publisher, Some(0)));
        let figures = AnonymityFigures::of(&attempts).unwrap();
        assert_eq!((figures.hit_ratio, figures.precision), (0.25, 0.0625));
    }

    #[test]
    fn nothing_seen_leaves_all_suspects() {
        let figures = AnonymityFigures::of(&[attempt(1, None)]).unwrap();
        assert_eq!((figures.hit_ratio, figures.entropy_bits), (0.0, 3.0));
        assert_eq!(AnonymityFigures::of(&[]), None);
    }
}
