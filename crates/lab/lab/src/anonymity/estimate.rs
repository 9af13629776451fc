//! Estimators of the publisher of a message.

use std::collections::BTreeMap;

use super::known::KnownNetwork;
use super::observe::Sighting;

/// Number of earliest sightings that the likelihood of a publisher is computed from. Later ones have come a long way,
/// and tell little.
const SIGHTINGS: usize = 20;

/// Rule by which observers guess the publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Estimator {
    /// First spy: the node that sent the first copy to any observer.
    FirstSpy,
    /// Maximum likelihood with unknown topology: observers know the delays of their own connections, and take the node
    /// that sent earliest.
    EarliestSender,
    /// Maximum likelihood with known topology: observers know all connections and their delays. A message comes later
    /// at a node than by the shortest way, by times that are distributed exponentially.
    KnownTopology,
}

impl Estimator {
    /// All estimators, each with its name for tables.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("first spy", Self::FirstSpy),
        ("earliest sender", Self::EarliestSender),
        ("topology known", Self::KnownTopology),
    ];
}

/// What observers believe about one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The most likely publisher; `None` if no observer got the message.
    pub publisher: Option<u32>,
    /// Probability of each suspect, if the estimator gives one, in descending order.
    pub posterior: Option<Vec<(u32, f64)>>,
}

impl Guess {
    pub(super) fn new(
        estimator: Estimator,
        sightings: &[Sighting],
        suspects: &[u32],
        network: &mut KnownNetwork,
    ) -> Self {
        let first = match estimator {
            Estimator::FirstSpy => sightings.first(),
            Estimator::EarliestSender => sightings.iter().min_by_key(|seen| seen.sent_ns),
            Estimator::KnownTopology => return most_likely(sightings, suspects, network),
        };
        Self {
            publisher: first.map(|seen| seen.from),
            posterior: None,
        }
    }

    /// Entropy of the posterior, bits, if there is one.
    pub fn entropy_bits(&self) -> Option<f64> {
        let all = self.posterior.as_ref()?.iter().map(|(_, share)| *share);
        Some(entropy_bits(all))
    }
}

/// Entropy of a distribution, bits.
pub(super) fn entropy_bits(distribution: impl Iterator<Item = f64>) -> f64 {
    let some = distribution.filter(|share| *share > 0.0);
    some.map(|share| -share * share.log2()).sum()
}

/// Compares the times at which nodes sent the message with the shortest times from each suspect.
fn most_likely(sightings: &[Sighting], suspects: &[u32], network: &mut KnownNetwork) -> Guess {
    // Each node counts once, with the earliest time at which it sent.
    let mut senders: BTreeMap<u32, u64> = BTreeMap::new();
    for seen in sightings {
        let sent_ns = senders.entry(seen.from).or_insert(seen.sent_ns);
        *sent_ns = seen.sent_ns.min(*sent_ns);
    }
    let mut senders: Vec<(u64, u32)> = senders.into_iter().map(|(node, at)| (at, node)).collect();
    senders.sort_unstable();
    senders.truncate(SIGHTINGS);
    let mut lateness: Vec<(u32, f64)> = suspects.iter().map(|suspect| (*suspect, 0.0)).collect();
    let mut published: Vec<f64> = vec![f64::INFINITY; lateness.len()];
    for (sent_ns, node) in &senders {
        let times_ns = network.times_to(*node);
        for ((suspect, sum), earliest) in lateness.iter_mut().zip(&mut published) {
            // A light client is known to nobody but the node that it publishes through.
            let takes_ns = match suspect == node {
                true => 0,
                false => times_ns.get(*suspect as usize).copied().unwrap_or(u64::MAX),
            };
            let left = *sent_ns as f64 - takes_ns as f64;
            *sum += left;
            *earliest = earliest.min(left);
        }
    }
    let count = senders.len() as f64;
    for ((_, sum), earliest) in lateness.iter_mut().zip(&published) {
        *sum -= earliest * count;
    }
    lateness.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some((publisher, least)) = lateness.first().copied().filter(|_| !senders.is_empty()) else {
        return Guess {
            publisher: None,
            posterior: None,
        };
    };
    // The mean lateness of the best suspect is the maximum-likelihood estimate of the distribution's mean.
    let mean = (least / count).max(1e6);
    let weights = lateness
        .iter()
        .map(|(node, sum)| (*node, ((least - sum) / mean).exp()));
    let mut posterior: Vec<(u32, f64)> = weights.collect();
    let total: f64 = posterior.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in &mut posterior {
        *weight /= total;
    }
    Guess {
        publisher: Some(publisher),
        posterior: Some(posterior),
    }
}
