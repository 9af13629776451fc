//! Benchmark of a peer process's processor time per received message, new or duplicate.
//!
//! Several connections without a router join the mesh of a new peer. The first sends the messages; the second
//! then sends the same frames again. The benchmark uses only the line protocol of
//! `tools/conformance/README.md` and raw pubsub.

mod load;
mod options;
mod report;
mod subject;

use undertone_attacks::raw::RawError;
use undertone_bench::variants::VariantsError;
use undertone_conformance::PeerError;
use undertone_conformance::payload::StampError;

use load::Load;
pub(crate) use options::FeedOptions;
use report::{Report, Sample};
use subject::Subject;

use crate::output;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Variants(#[from] VariantsError),
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error(transparent)]
    Stamp(#[from] StampError),
    #[error("{label}, connection {connection}: {source}")]
    Raw {
        label: String,
        connection: u8,
        source: RawError,
    },
    #[error(
        "{label} forwarded {forwarded} of {expected} messages to connection {connection} within \
         {deadline_s} s; its mesh must keep all connections"
    )]
    Forwarded {
        label: String,
        connection: u8,
        forwarded: u64,
        expected: u64,
        deadline_s: u64,
    },
    #[error("{label} closed its stream to connection {connection}, or sent an invalid RPC")]
    Stream { label: String, connection: u8 },
}

pub(crate) async fn run(options: &FeedOptions) -> Result<String, Failure> {
    let commands = options.variants.commands()?;
    let mut report = Report::new(options.messages, options.connections);
    for &size in &options.sizes {
        let warm_up = Load::new(&options.topic, 0, options.warm_up, size)?;
        let counted = Load::new(&options.topic, warm_up.next_seq(), options.messages, size)?;
        for round in 1..=options.rounds {
            for command in &commands {
                let label = command.label();
                eprintln!("{label}: {size} bytes, round {round} of {}", options.rounds);
                let mut subject = Subject::start(command, options).await?;
                subject.take(&warm_up).await?;
                let cost = subject.take(&counted).await?;
                subject.quit().await?;
                report.add(size, label, Sample::of(cost, options.messages));
            }
        }
    }
    Ok(match options.variants.json {
        true => output::json(&report),
        false => report.table(),
    })
}
