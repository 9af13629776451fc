//! The only source of randomness: a seeded ChaCha8 stream.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Seeded generator of the router's random choices; the same seed gives the same choices on every platform.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha8Rng::from_seed(seed))
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number in `0..bound`; `bound` must not be 0. The bias of the multiply-shift is below 2^-32
    /// for every bound used here (peer and id counts).
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0);
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Moves `count` randomly chosen elements to the front, in random order.
    pub fn choose<T>(&mut self, items: &mut [T], count: usize) {
        for i in 0..count.min(items.len()) {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
    }

    /// Returns `true` with this probability, 0 to 1.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        const BITS: u32 = f64::MANTISSA_DIGITS;
        let unit = (self.next_u64() >> (64 - BITS)) as f64 / (1_u64 << BITS) as f64;
        unit < probability
    }

    /// Returns an exponentially distributed duration. Von Neumann's method only compares numbers, so the result is
    /// the same on every platform; that of a logarithm need not be.
    pub(crate) fn exponential(&mut self, mean: Duration) -> Duration {
        let mean = u64::try_from(mean.as_nanos()).unwrap_or(u64::MAX);
        let mut whole = 0_u64;
        loop {
            // The length of a descending run is odd with probability exp(-first), where `first` is a share of 2^64.
            let first = self.next_u64();
            let (mut last, mut is_odd) = (first, true);
            loop {
                let next = self.next_u64();
                if next >= last {
                    break;
                }
                (last, is_odd) = (next, !is_odd);
            }
            if is_odd {
                let share = (u128::from(mean) * u128::from(first)) >> 64;
                let nanos = u128::from(mean) * u128::from(whole) + share;
                return Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            }
            whole += 1;
        }
    }

    /// Puts all elements into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.choose(items, items.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_durations_have_their_mean_and_tail() {
        let mut rng = Rng::new([9; 32]);
        let mean = Duration::from_secs(43);
        let drawn: Vec<_> = (0..20_000).map(|_| rng.exponential(mean)).collect();
        let average = drawn.iter().sum::<Duration>() / 20_000;
        assert!(average.abs_diff(mean) < mean / 40, "{average:?}");
        for (times, share) in [(0.5, 0.6065), (1.0, 0.3679), (3.0, 0.0498)] {
            let longer = drawn.iter().filter(|d| **d > mean.mul_f64(times)).count();
            let longer = longer as f64 / 20_000.0;
            assert!((longer - share).abs() < 0.011, "{times}: {longer}");
        }
    }
}
