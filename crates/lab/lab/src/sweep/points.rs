//! Points of a sweep: combinations of values, and the division of runs among machines.

use std::str::FromStr;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use thiserror::Error;

use super::error::SweepError;
use super::file::{Sampling, Sweep};
use super::limits::{MAX_POINTS, MAX_RUNS};
use crate::scenario::{Loaded, ScenarioSource};

/// One combination of values, with its scenario.
#[derive(Clone, Debug)]
pub struct SweepPoint {
    /// Values of the sweep's keys, in the order of the keys; texts without their quotes.
    pub values: Vec<String>,
    /// All overrides of the scenario.
    pub set: Vec<String>,
    /// The scenario with these overrides.
    pub loaded: Loaded,
}

impl Sweep {
    /// Returns all points, and checks the scenario of each.
    ///
    /// # Errors
    /// Returns the first mistake in the scenario of a point, or [`SweepError`] for too many points.
    pub fn points(&self) -> Result<Vec<SweepPoint>, SweepError> {
        self.points_of(&ScenarioSource::named(&self.scenario)?)
    }

    /// Returns all points, for another scenario than the one that the sweep names.
    ///
    /// # Errors
    /// As [`Sweep::points`].
    pub fn points_of(&self, source: &ScenarioSource) -> Result<Vec<SweepPoint>, SweepError> {
        let combinations = match self.sampling {
            Sampling::Grid => self.grid()?,
            Sampling::Random { points, seed } => self.random(points as usize, seed),
            Sampling::LatinHypercube { points, seed } => self.latin(points as usize, seed),
        };
        let (points, seeds) = (combinations.len(), self.seeds.len());
        if points.saturating_mul(seeds) > MAX_RUNS {
            return Err(SweepError::TooManyRuns { points, seeds });
        }
        combinations
            .into_iter()
            .map(|values| self.point(source, values))
            .collect()
    }

    fn point(
        &self,
        source: &ScenarioSource,
        values: Vec<String>,
    ) -> Result<SweepPoint, SweepError> {
        let axes = self.axes.iter().zip(&values);
        let set = axes.flat_map(|(axis, value)| axis.overrides(value));
        let set: Vec<String> = self.set.iter().cloned().chain(set).collect();
        let loaded = source.load(&set)?;
        Ok(SweepPoint {
            values: values.iter().map(|value| shown(value)).collect(),
            set,
            loaded,
        })
    }

    /// Every combination; the last key changes fastest.
    fn grid(&self) -> Result<Vec<Vec<String>>, SweepError> {
        let points = self.axes.iter().map(|axis| axis.steps() as u128).product();
        if points > MAX_POINTS as u128 {
            return Err(SweepError::TooManyPoints { points });
        }
        let mut combinations = vec![Vec::new()];
        for axis in &self.axes {
            let longer = combinations.iter().flat_map(|combination| {
                (0..axis.steps()).map(move |at| {
                    let mut longer: Vec<String> = combination.clone();
                    longer.push(axis.step(at));
                    longer
                })
            });
            combinations = longer.collect();
        }
        Ok(combinations)
    }

    fn random(&self, points: usize, seed: u64) -> Vec<Vec<String>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut point = || {
            let axes = self.axes.iter();
            axes.map(|axis| axis.at_share(unit(&mut rng))).collect()
        };
        (0..points).map(|_| point()).collect()
    }

    /// Divides the range of each key into as many parts as there are points, and takes one value from each part.
    fn latin(&self, points: usize, seed: u64) -> Vec<Vec<String>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut combinations = vec![Vec::new(); points];
        for axis in &self.axes {
            let mut parts: Vec<usize> = (0..points).collect();
            for at in (1..points).rev() {
                parts.swap(at, below(&mut rng, at + 1));
            }
            for (combination, part) in combinations.iter_mut().zip(parts) {
                let share = (part as f64 + unit(&mut rng)) / points as f64;
                combination.push(axis.at_share(share));
            }
        }
        combinations
    }
}

/// A value as shown in a table: plain text without its quotes.
fn shown(value: &str) -> String {
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let plain = inner.filter(|text| !text.contains(['"', '\\']));
    plain.unwrap_or(value).to_owned()
}

/// A number from 0 to less than 1.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A whole number below `bound`.
pub(super) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// Part of a sweep that one of several machines runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepShard {
    /// Number of the part, from 1.
    pub number: usize,
    /// Number of parts.
    pub of: usize,
}

/// Returned for a text that does not name a part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no part of a sweep: expected I/N with I from 1 to N, such as 2/8")]
pub struct ShardError {
    /// The text that was given.
    pub text: String,
}

impl SweepShard {
    /// The only part.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether the part contains the run with this index, from 0.
    pub fn has(&self, run: usize) -> bool {
        run % self.of.max(1) == self.number - 1
    }
}

impl FromStr for SweepShard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').and_then(|(number, of)| {
            let (number, of) = (number.trim().parse().ok()?, of.trim().parse().ok()?);
            (1..=of).contains(&number).then_some(Self { number, of })
        });
        parts.ok_or_else(|| ShardError {
            text: text.to_owned(),
        })
    }
}
