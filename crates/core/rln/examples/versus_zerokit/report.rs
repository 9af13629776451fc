//! The figures and their output.

use serde::Serialize;

use crate::prover::ProverFigures;
use crate::tree::TreeFigures;
use crate::verifier::VerifierFigures;

/// Result for one batch size.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BatchFigure {
    /// Proofs in the batch.
    pub(crate) n: usize,
    /// Time per proof in milliseconds, including decoding.
    pub(crate) per_proof_ms: f64,
    /// zerokit's time for one proof, including decoding, divided by that.
    pub(crate) ratio: f64,
}

/// All figures. Times are processor time in milliseconds; ratios are zerokit's time divided by ours.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// zerokit's `generate_proof` divided by our proof with nothing prepared and the member cached.
    full_prove_ratio: f64,
    /// zerokit's `finish_proof` divided by the same.
    finish_ratio: f64,
    online_sign_ms: f64,
    /// zerokit's `generate_proof` divided by signing with a token.
    online_sign_ratio: f64,
    token_prepare_ms: f64,
    verify_ratio: f64,
    batch: Vec<BatchFigure>,
    /// As `batch`, with one bad proof in each, for the sizes that the default policy forms. An attacker
    /// gains nothing from bad proofs while the ratios are above `verify_ratio`.
    bad_proof_batch: Vec<BatchFigure>,
    tree_insert_10k_ms: f64,
    tree_1m_ms: f64,
    tree_1m_mb: f64,
    /// Time from start until ready to sign, with the tables on disk.
    key_load_ms: f64,
}

impl Report {
    pub(crate) fn new(
        prover: &ProverFigures,
        verifier: VerifierFigures,
        tree: &TreeFigures,
    ) -> Self {
        Self {
            full_prove_ratio: prover.zerokit_full_ms / prover.full_ms,
            finish_ratio: prover.zerokit_finish_ms / prover.full_ms,
            online_sign_ms: prover.sign_ms,
            online_sign_ratio: prover.zerokit_full_ms / prover.sign_ms,
            token_prepare_ms: prover.prepare_ms,
            verify_ratio: verifier.verify_ratio,
            batch: verifier.batch,
            bad_proof_batch: verifier.bad_proof_batch,
            tree_insert_10k_ms: tree.insert_10k_ms,
            tree_1m_ms: tree.one_million_ms,
            tree_1m_mb: tree.one_million_mb,
            key_load_ms: prover.start_with_tables_ms,
        }
    }

    pub(crate) fn print(&self, prover: &ProverFigures) {
        let line = |what: &str, zerokit_ms: Option<f64>, ours_ms: f64| match zerokit_ms {
            Some(theirs) => println!(
                "{what:<44} {theirs:>10.3} {ours_ms:>10.3} {:>9.2}",
                theirs / ours_ms
            ),
            None => println!("{what:<44} {:>10} {ours_ms:>10.3} {:>9}", "", ""),
        };
        println!(
            "{:<44} {:>10} {:>10} {:>9}",
            "processor time, ms", "zerokit", "ours", "ratio"
        );
        let full = Some(prover.zerokit_full_ms);
        line("full proof, member cached", full, prover.full_ms);
        line(
            "full proof, member new",
            full,
            prover.member_ms + prover.full_ms,
        );
        line(
            "membership cached (their finish_proof)",
            Some(prover.zerokit_finish_ms),
            prover.full_ms,
        );
        line("sign with a token", full, prover.sign_ms);
        line("prepare a token", None, prover.prepare_ms);
        line(
            "member, new",
            Some(prover.zerokit_partial_ms),
            prover.member_ms,
        );
        line(
            "member, after another's registration",
            Some(prover.zerokit_partial_ms),
            prover.update_ms,
        );
        line("start, tables on disk", None, prover.start_with_tables_ms);
        line("start, no tables on disk", None, prover.start_ms);
        println!("verify one: ratio {:.2}", self.verify_ratio);
        for (name, figures) in [("batch", &self.batch), ("one bad", &self.bad_proof_batch)] {
            for BatchFigure {
                n,
                per_proof_ms,
                ratio,
            } in figures
            {
                println!("{name} of {n}: {per_proof_ms:.3} ms for each proof, ratio {ratio:.2}");
            }
        }
        println!(
            "tree: 10,000 leaves in one batch {:.1} ms",
            self.tree_insert_10k_ms
        );
        println!(
            "tree: 1,000,000 leaves take {:.1} s and {:.1} MB",
            self.tree_1m_ms / 1e3,
            self.tree_1m_mb
        );
    }
}
