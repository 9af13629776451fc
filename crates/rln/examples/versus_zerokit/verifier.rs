//! Verifying.

use crate::report::BatchFigure;

/// What the verifier's measurement gives.
pub(crate) struct VerifierFigures {
    /// One proof, decoded and checked.
    pub(crate) verify_ratio: f64,
    pub(crate) batch: Vec<BatchFigure>,
    pub(crate) bad_proof_batch: Vec<BatchFigure>,
}

pub(crate) fn measure() -> VerifierFigures {
    VerifierFigures {
        verify_ratio: f64::NAN,
        batch: Vec::new(),
        bad_proof_batch: Vec::new(),
    }
}
