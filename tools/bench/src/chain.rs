//! Benchmark of latency, processor time and memory along a line of peers on loopback.
//!
//! All variants run side by side and take turns in short rounds, so that other work of the machine
//! affects them alike. The benchmark uses only the line protocol of `tools/conformance/README.md`.

mod line;
mod load;
mod options;
mod processors;
mod report;
mod summary;

use std::time::Duration;

use undertone_bench::variants::VariantsError;
use undertone_conformance::PeerError;

use line::Line;
use load::Load;
pub(crate) use options::ChainOptions;
use processors::{Processors, ProcessorsError};
use report::Report;
use summary::Tally;

use crate::output;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error(transparent)]
    Variants(#[from] VariantsError),
    #[error(transparent)]
    Processors(#[from] ProcessorsError),
}

/// Messages sent before the counted ones.
const WARM_UP: Load = Load {
    size: 1_000,
    count: 20,
    gap: Duration::from_millis(50),
};
/// Time for which the processor time of idle peers is measured.
const IDLE: Duration = Duration::from_secs(3);

pub(crate) async fn run(options: &ChainOptions) -> Result<String, Failure> {
    let processors = options.apart.then(Processors::several).transpose()?;
    let mut lines = Vec::new();
    for command in options.variants.commands()? {
        let label = command.label().to_owned();
        eprintln!("{label}: starting {} peers", options.nodes);
        lines.push(Line::start(label, &command, options, processors.as_ref()).await?);
    }
    for line in &mut lines {
        load::run(line, WARM_UP).await?;
    }
    let idle = idle_shares(&mut lines).await?;

    let mut rows = Vec::new();
    for load in options.loads() {
        let mut tallies = vec![Tally::default(); lines.len()];
        for round in load.rounds(options.rounds) {
            for ((line, tally), idle) in lines.iter_mut().zip(&mut tallies).zip(&idle) {
                eprintln!(
                    "{}: {} messages of {} bytes",
                    line.label(),
                    round.count,
                    round.size
                );
                let outcome = load::run(line, round).await?;
                tally.add(&outcome, idle);
            }
        }
        for (line, tally) in lines.iter().zip(&tallies) {
            rows.push(tally.row(line.label(), load));
        }
    }
    for line in lines {
        line.quit().await?;
    }
    let report = Report::new(options.nodes, options.apart, rows);
    Ok(match options.variants.json {
        true => output::json(&report),
        false => report.table(),
    })
}

/// Measures the idle share of processor time for each line and peer.
async fn idle_shares(lines: &mut [Line]) -> Result<Vec<Vec<f64>>, PeerError> {
    let mut before = Vec::new();
    for line in lines.iter_mut() {
        before.push(line.snapshot().await?);
    }
    tokio::time::sleep(IDLE).await;
    let mut shares = Vec::new();
    for (line, before) in lines.iter_mut().zip(&before) {
        shares.push(line.snapshot().await?.cpu_shares_since(before));
    }
    Ok(shares)
}
