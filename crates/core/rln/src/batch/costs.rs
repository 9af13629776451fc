//! Cost of verification. The policy uses it to bound delay, and a simulation to advance its time.

/// Processor time of verification, as an affine function of the number of proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyCosts {
    /// Time to verify one proof by itself.
    pub single_ns: u64,
    /// Fixed part of a batch's time, whatever its size.
    pub batch_base_ns: u64,
    /// Time that each proof of a batch adds.
    pub batch_per_proof_ns: u64,
}

impl Default for VerifyCosts {
    /// Measured on one core of an x86-64 server at 2.6 GHz; see `examples/versus_zerokit`.
    fn default() -> Self {
        Self {
            single_ns: 1_150_000,
            batch_base_ns: 1_800_000,
            batch_per_proof_ns: 290_000,
        }
    }
}

impl VerifyCosts {
    /// Time to verify a batch of `n` valid proofs.
    pub fn batch_ns(&self, n: usize) -> u64 {
        let proofs_ns = self.batch_per_proof_ns.saturating_mul(n as u64);
        self.batch_base_ns.saturating_add(proofs_ns)
    }

    /// Largest batch that is verified within `time_ns`; 0 when no batch is.
    pub fn batch_within(&self, time_ns: u64) -> usize {
        let proofs_ns = time_ns.saturating_sub(self.batch_base_ns);
        match proofs_ns.checked_div(self.batch_per_proof_ns) {
            Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
            None => usize::MAX,
        }
    }
}
