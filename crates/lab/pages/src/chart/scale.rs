//! Scales: conversion of values to positions, and round values for ticks.

use super::number;
use super::range::is_drawable;

/// Maximum number of ticks; a guard for values so close together that steps between them vanish.
const MAX_TICKS: usize = 12;
/// Factors by which ticks divide a power of ten.
const FACTORS: [f64; 3] = [1.0, 2.0, 5.0];
/// Tolerance that keeps the last bit of a quotient or logarithm from adding a step.
const CLOSE: f64 = 1e-9;

/// A labelled position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Scale of one axis.
#[derive(Clone, Debug)]
pub(super) struct AxisScale {
    log: bool,
    /// Range of values, or of their decimal logarithms.
    from: f64,
    to: f64,
    /// Positions of the ends of the range.
    start: f64,
    end: f64,
}

impl AxisScale {
    /// A scale that shows values from `low` to `high`; equal values get some room around them.
    pub(super) fn new((low, high): (f64, f64), log: bool) -> Self {
        let (mut from, mut to) = match log {
            true => (low.log10(), high.log10()),
            false => (low, high),
        };
        if to - from <= CLOSE * to.abs().max(from.abs()) {
            let room = match log {
                true => 0.5,
                false if from == 0.0 => 1.0,
                false => from.abs() / 10.0,
            };
            (from, to) = (from - room, to + room);
        }
        Self {
            log,
            from,
            to,
            start: 0.0,
            end: 1.0,
        }
    }

    /// Sets the positions of the ends of the range.
    #[must_use]
    pub(super) fn placed(self, start: f64, end: f64) -> Self {
        Self { start, end, ..self }
    }

    /// Widens the range to round values, for about `steps` steps.
    #[must_use]
    pub(super) fn rounded(self, steps: usize) -> Self {
        let (from, to) = if self.log {
            (log_below(self.from), log_above(self.to))
        } else {
            let step = self.step(steps);
            let down = (self.from / step + CLOSE).floor() * step;
            (down, (self.to / step - CLOSE).ceil() * step)
        };
        Self { from, to, ..self }
    }

    /// Position of a value; `None` if the axis cannot show it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        is_drawable(value, self.log).then(|| {
            let value = if self.log { value.log10() } else { value };
            let share = (value - self.from) / (self.to - self.from);
            self.start + share * (self.end - self.start)
        })
    }

    /// Position at which bars begin: that of 0, or the low end.
    pub(super) fn ground(&self) -> f64 {
        match self.log {
            true => self.start,
            false => {
                let zero = 0.0_f64.clamp(self.from, self.to);
                self.start + (zero - self.from) / (self.to - self.from) * (self.end - self.start)
            }
        }
    }

    /// Round values in the range for ticks: about `wanted` of them, or fewer if
    /// only those satisfy `fits`.
    pub(super) fn ticks(&self, wanted: usize, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let mut fewest = Vec::new();
        for candidate in self.candidates(wanted) {
            if candidate.len() >= 2 && fits(&candidate) {
                return candidate;
            }
            if fewest.is_empty() || (2..fewest.len()).contains(&candidate.len()) {
                fewest = candidate;
            }
        }
        fewest
    }

    /// Candidate sets of ticks, the densest first.
    fn candidates(&self, wanted: usize) -> Vec<Vec<Tick>> {
        if self.log {
            let fine = self.log_ticks(&FACTORS, 1);
            let coarse = (1..=64).map(|every| self.log_ticks(&[1.0], every));
            return std::iter::once(fine)
                .chain(coarse)
                .filter(|ticks| ticks.len() <= wanted + 2)
                .collect();
        }
        (1..=wanted)
            .rev()
            .map(|steps| self.linear_ticks(self.step(steps)))
            .collect()
    }

    fn linear_ticks(&self, step: f64) -> Vec<Tick> {
        let first = (self.from / step - CLOSE).ceil();
        let last = (self.to / step + CLOSE).floor();
        let largest = self.from.abs().max(self.to.abs());
        let count = (last - first).clamp(0.0, MAX_TICKS as f64) as usize;
        (0..=count)
            .map(|number| {
                let value = (first + number as f64) * step;
                let label = number::on_linear(value, step, largest);
                Tick { value, label }
            })
            .collect()
    }

    /// Ticks at `factors` times every `every`th power of ten.
    fn log_ticks(&self, factors: &[f64], every: i32) -> Vec<Tick> {
        let first = self.from.floor() as i32;
        let last = self.to.ceil() as i32;
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        powers
            .flat_map(|power| {
                factors
                    .iter()
                    .map(move |factor| factor * 10_f64.powi(power))
            })
            .filter(|value| {
                let place = value.log10();
                self.from - CLOSE <= place && place <= self.to + CLOSE
            })
            .map(|value| Tick {
                value,
                label: number::on_log(value, 10_f64.powf(self.from), 10_f64.powf(self.to)),
            })
            .collect()
    }

    /// Step between ticks: 1, 2 or 5 times a power of ten, of which at most about `steps`
    /// make up the range.
    fn step(&self, steps: usize) -> f64 {
        let least = (self.to - self.from) / steps as f64;
        let power = 10_f64.powf(least.log10().floor());
        let factor = [1.0, 2.0, 5.0]
            .into_iter()
            .find(|factor| factor * power >= least * 0.999);
        factor.unwrap_or(10.0) * power
    }
}

/// Logarithm of the largest number 1, 2 or 5 times a power of ten that is not above the
/// number with logarithm `value`.
fn log_below(value: f64) -> f64 {
    let power = (value + CLOSE).floor();
    let logs = FACTORS.map(|factor| power + factor.log10());
    let below = logs.into_iter().filter(|log| *log <= value + CLOSE);
    below.fold(power, f64::max)
}

/// Logarithm of the smallest such number that is not below the number with logarithm `value`.
fn log_above(value: f64) -> f64 {
    let power = (value - CLOSE).ceil();
    let logs = FACTORS.map(|factor| power - 1.0 + factor.log10());
    let above = logs.into_iter().filter(|log| *log >= value - CLOSE);
    above.fold(power, f64::min)
}
