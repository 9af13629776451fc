//! Published figures, from the vendored tables (`crates/lab/lab/published/README.md` names the sources).

use serde::Serialize;
use undertone_lab::published::{HASHING, RLN_KEY_BENCHMARKS, RLN_PLATFORMS};

/// All published figures that the report shows.
#[derive(Serialize)]
pub(super) struct Published {
    pub(super) platforms: Vec<Platform>,
    pub(super) hashing: Vec<Hashing>,
    pub(super) key_benchmarks: Vec<Quantity>,
}

/// Row of the paper's table 1.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Platform {
    pub(super) platform: &'static str,
    pub(super) generation_ms: f64,
    pub(super) verification_ms: f64,
}

/// Row of the paper's table 4.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Hashing {
    pub(super) size_kb: usize,
    pub(super) hashing_ms: f64,
}

/// Figure of *RLN Key Benchmarks*.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Quantity {
    pub(super) quantity: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
}

impl Published {
    pub(super) fn vendored() -> Self {
        Self {
            platforms: rows(
                RLN_PLATFORMS,
                |[platform, generation_ms, verification_ms]| Platform {
                    platform,
                    generation_ms: number(generation_ms),
                    verification_ms: number(verification_ms),
                },
            ),
            hashing: rows(HASHING, |[size_kb, hashing_ms]| Hashing {
                size_kb: number(size_kb) as usize,
                hashing_ms: number(hashing_ms),
            }),
            key_benchmarks: rows(RLN_KEY_BENCHMARKS, |[quantity, value, unit]| Quantity {
                quantity,
                value: number(value),
                unit,
            }),
        }
    }

    /// Returns a figure of *RLN Key Benchmarks* by its name.
    pub(super) fn key_benchmark(&self, quantity: &str) -> Option<&Quantity> {
        let mut all = self.key_benchmarks.iter();
        all.find(|row| row.quantity == quantity)
    }
}

/// Converts the first `N` columns of all lines except the header.
fn rows<const N: usize, T>(csv: &'static str, row: impl Fn([&'static str; N]) -> T) -> Vec<T> {
    let lines = csv.lines().skip(1);
    lines
        .map(|line| {
            let mut columns = line.split(',');
            row(std::array::from_fn(|_| {
                columns
                    .next()
                    .expect("the tests read all rows of the vendored tables")
            }))
        })
        .collect()
}

fn number(text: &str) -> f64 {
    text.parse()
        .expect("the tests read all rows of the vendored tables")
}

#[cfg(test)]
#[path = "tests/published.rs"]
mod tests;
