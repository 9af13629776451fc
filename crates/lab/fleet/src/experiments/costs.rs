//! Costs of proofs, measured for an experiment.

use undertone_lab::experiment::{MachineError, RlnCost, RlnCosts};
use undertone_rln::Key;

use crate::measure::{proofs, tree};

pub(crate) fn measure(runs: usize) -> Result<RlnCosts, MachineError> {
    let failed = |reason| MachineError::Failed {
        what: "measuring proofs",
        reason,
    };
    let runs = runs.max(1);
    let key = Key::load().map_err(|error| failed(error.to_string()))?;
    let proofs = proofs::measure(&key, runs, |_| {});
    let proofs = proofs.map_err(|error| failed(error.to_string()))?;
    let tree = tree::measure(runs);
    let by_size = proofs.by_size.iter().map(|cost| RlnCost {
        size_kb: cost.size_kb,
        generation_ms: cost.generation_ms,
        sign_ms: cost.sign_ms,
        verification_ms: cost.verification_ms,
    });
    let hashing = proofs.hashing.iter();
    Ok(RlnCosts {
        by_size: by_size.collect(),
        token_prepare_ms: proofs.token_prepare_ms,
        batch: proofs.batch,
        batch_per_proof_ms: proofs.batch_per_proof_ms,
        hashing_ms: hashing
            .map(|hash| (hash.size_kb, hash.hashing_ms))
            .collect(),
        tree_build_ms: tree.build_ms,
        tree_mb: tree.size_mb,
    })
}
