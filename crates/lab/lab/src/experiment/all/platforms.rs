//! Table 1: generating and verifying proofs.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::published::{RLN_KEY_BENCHMARKS, RLN_PLATFORMS, cell, rows};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "rln-platforms",
    title: "Proof generation and verification, by platform",
    source: "DLT 2024, Table 1; Waku research, RLN Key Benchmarks",
    run,
};

/// Platform from which the paper's simulations took their waiting times.
const SIMULATED: &str = "Digital Ocean 8GB/4CPU";

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let line = context.say("proofs on this machine");
    let costs = context.real_nodes().rln_costs(context.by_scale(9, 25))?;
    line.finish();
    let mut findings = Findings::default();
    let of = |size_kb: usize| costs.by_size.iter().find(|cost| cost.size_kb == size_kb);
    let (Some(small), Some(large)) = (of(1), of(150)) else {
        findings.note("the machine measured neither 1 nor 150 kB");
        return Ok(findings);
    };
    let mut table = Table::new(
        "proofs by platform, ms",
        &["platform", "generation", "verification"],
    );
    let mut names = Vec::new();
    let (mut generation, mut verification) = (Vec::new(), Vec::new());
    for row in rows(RLN_PLATFORMS) {
        let [platform, make, check] = row[..] else {
            continue;
        };
        table.push([platform, make, check].map(str::to_owned));
        let at = names.len() as f64;
        generation.extend(make.parse().map(|ms: f64| [at, ms]));
        verification.extend(check.parse().map(|ms: f64| [at, ms]));
        names.push(platform);
    }
    let ours = [
        ("this machine, full proof", small.generation_ms),
        ("this machine, with a token", small.sign_ms),
    ];
    let (mut our_generation, mut our_verification) = (Vec::new(), Vec::new());
    for (name, ms) in ours {
        let check = small.verification_ms;
        table.push([name.to_owned(), format!("{ms:.2}"), format!("{check:.2}")]);
        let at = names.len() as f64;
        our_generation.push([at, ms]);
        our_verification.push([at, check]);
        names.push(name);
    }
    findings.tables.push(table);
    let published = |column| cell(RLN_PLATFORMS, SIMULATED, column).unwrap_or(f64::NAN);
    let (make, check) = (published("generation_ms"), published("verification_ms"));
    findings.figures = vec![
        Figure::published(
            format!("full proof, beside {SIMULATED}"),
            "ms",
            make,
            &[small.generation_ms],
            Criterion::AtMost(make),
        ),
        Figure::published(
            "proof with a prepared token",
            "ms",
            make,
            &[small.sign_ms],
            Criterion::AtMost(1.0),
        ),
        Figure::published(
            format!("verification of one, beside {SIMULATED}"),
            "ms",
            check,
            &[small.verification_ms],
            Criterion::AtMost(check),
        ),
        Figure::ours(
            format!("verification of each of {}", costs.batch),
            "ms",
            &[costs.batch_per_proof_ms],
        ),
        Figure::stated(
            "generation at 150 kB over generation at 1 kB",
            "",
            "constant",
            &[large.generation_ms / small.generation_ms],
            Criterion::Between(0.85, 1.15),
        ),
        Figure::stated(
            "verification at 150 kB over verification at 1 kB",
            "",
            "grows a little with the size",
            &[large.verification_ms / small.verification_ms],
            Criterion::Between(0.9, 2.0),
        ),
        Figure::published(
            "tree of 10,000 members",
            "MB",
            cell(RLN_KEY_BENCHMARKS, "tree_size_10k_members", "value").unwrap_or(f64::NAN),
            &[costs.tree_mb],
            Criterion::AtMost(2.0),
        ),
    ];
    findings.charts.push(
        Chart::new(
            "Making and checking a proof",
            Axis::words("", &names),
            Axis::log("ms"),
        )
        .with(
            "generation, published",
            Role::Published,
            Shape::Points(generation),
        )
        .with(
            "verification, published",
            Role::Published,
            Shape::Points(verification),
        )
        .with(
            "generation, ours",
            Role::Ours,
            Shape::Points(our_generation),
        )
        .with(
            "verification, ours",
            Role::Ours,
            Shape::Points(our_verification),
        ),
    );
    findings.note("Ours is processor time of one thread; the published figures do not say.");
    findings.note(
        "A token holds everything of a proof that does not depend on the message and is made ahead \
         of it; docs/design/rln-fast-path.md has the derivation.",
    );
    Ok(findings)
}
