//! The report of all figures, as JSON and as tables.

use std::fmt;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use undertone_fleet::measure::memory::Memory;
use undertone_fleet::measure::proofs::{BySize, ProofCosts};
use undertone_fleet::measure::tree::Tree;

use super::published::Published;

/// Report of measured and published figures. Measured times are medians of one thread's processor time;
/// published figures are as in their sources.
#[derive(Serialize)]
pub(super) struct Report {
    proofs: ProofCosts,
    tree: Tree,
    /// Resident memory; `None` if the operating system does not report it.
    memory: Option<Memory>,
    published: Published,
}

impl Report {
    pub(super) fn new(proofs: ProofCosts, tree: Tree, memory: Option<Memory>) -> Self {
        Self {
            proofs,
            tree,
            memory,
            published: Published::vendored(),
        }
    }

    fn platforms(&self) -> Table {
        let mut table = table(&["proof", "generation ms", "signing ms", "verification ms"]);
        for row in &self.proofs.by_size {
            table.add_row([
                format!("here, {} kB", row.size_kb),
                format!("{:.1}", row.generation_ms),
                format!("{:.3}", row.sign_ms),
                format!("{:.2}", row.verification_ms),
            ]);
        }
        for row in &self.published.platforms {
            table.add_row([
                row.platform.to_owned(),
                format!("{:.1}", row.generation_ms),
                String::new(),
                format!("{:.1}", row.verification_ms),
            ]);
        }
        table
    }

    fn hashing(&self) -> Table {
        let mut table = table(&["hashing", "here ms", "paper ms"]);
        for ours in &self.proofs.hashing {
            let mut published = self.published.hashing.iter();
            let paper = published.find(|paper| paper.size_kb == ours.size_kb);
            table.add_row([
                format!("{} kB", ours.size_kb),
                format!("{:.4}", ours.hashing_ms),
                paper.map_or_else(String::new, |paper| format!("{:.4}", paper.hashing_ms)),
            ]);
        }
        table
    }

    fn others(&self) -> Table {
        let mut table = table(&["", "here", "RLN Key Benchmarks"]);
        let published = |quantity| {
            let found = self.published.key_benchmark(quantity);
            found.map_or_else(String::new, |row| format!("{} {}", row.value, row.unit))
        };
        let last = self.proofs.by_size.last();
        let longest = |ms: fn(&BySize) -> f64| {
            last.map_or_else(String::new, |row| format!("{:.1} ms", ms(row)))
        };
        let memory = self.memory.as_ref().map_or_else(
            || "not known on this system".to_owned(),
            |memory| {
                let [with, without] = [memory.with_rln_mb, memory.without_rln_mb];
                format!("{with:.1} MB with, {without:.1} MB without")
            },
        );
        let Tree {
            members,
            build_ms,
            size_mb,
        } = self.tree;
        let rows = [
            (
                "proof generation, longest message".to_owned(),
                longest(|row| row.generation_ms),
                published("proof_generation"),
            ),
            (
                "proof verification, longest message".to_owned(),
                longest(|row| row.verification_ms),
                published("proof_verification"),
            ),
            (
                format!("verification, each of {}", self.proofs.batch),
                format!("{:.2} ms", self.proofs.batch_per_proof_ms),
                String::new(),
            ),
            (
                "preparing a token".to_owned(),
                format!("{:.1} ms", self.proofs.token_prepare_ms),
                String::new(),
            ),
            (
                format!("tree of {members} members, size"),
                format!("{size_mb:.2} MB"),
                published("tree_size_10k_members"),
            ),
            (
                format!("tree of {members} members, from its leaves"),
                format!("{build_ms:.0} ms"),
                format!("{}, with the chain", published("tree_sync_10k_members")),
            ),
            (
                "memory".to_owned(),
                memory,
                format!("{} more", published("memory_overhead")),
            ),
        ];
        for (what, here, there) in rows {
            table.add_row([what, here, there]);
        }
        table
    }
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_HORIZONTAL_ONLY)
        .set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Here: processor time, medians. Published: see crates/lab/lab/published."
        )?;
        writeln!(f, "{}", self.platforms())?;
        writeln!(f, "{}", self.hashing())?;
        write!(f, "{}", self.others())
    }
}
