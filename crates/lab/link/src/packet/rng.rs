//! The emulation's only source of randomness: a seeded ChaCha8 stream.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Denominator of probabilities, which are given in millionths.
pub(super) const MILLION: u32 = 1_000_000;

#[derive(Clone, Debug)]
pub(super) struct PacketRng(ChaCha8Rng);

impl PacketRng {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha8Rng::from_seed(seed))
    }

    /// A random number in `0..=max`; the bias of the multiply-shift is below 2^-20 for
    /// spans under an hour.
    pub(super) fn up_to(&mut self, max: u64) -> u64 {
        let span = u128::from(max) + 1;
        let scaled = (u128::from(self.0.next_u64()) * span) >> 64;
        u64::try_from(scaled).expect("a product of 64 bits and at most 2^64, shifted by 64")
    }

    /// Draws whether an event of probability `ppm` (in millionths) happens. Draws nothing for 0, so that
    /// switching loss off does not change the other random choices.
    pub(super) fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.up_to(u64::from(MILLION) - 1) < u64::from(ppm)
    }

    /// A draw from the normal distribution with mean 0 and standard deviation `sd`, as the sum of twelve
    /// uniform draws (Irwin-Hall): integers only, hence the same on every platform, and cut at 6 `sd`.
    pub(super) fn normal(&mut self, sd: u64) -> i64 {
        let sum: u64 = (0..12).map(|_| self.up_to(sd)).sum();
        i64::try_from(sum).unwrap_or(i64::MAX) - i64::try_from(sd.saturating_mul(6)).unwrap_or(0)
    }
}
