//! Benchmark of a peer's processor time and memory with many idle connections.
//!
//! The other ends are Undertone nodes within this process, subscribed to the same topic; the subject is a
//! separate process that speaks the line protocol of `tools/conformance/README.md`.

mod crowd;
mod options;
mod report;
mod subject;
mod whole_node;

use std::time::Duration;

use undertone_attacks::HostileError;
use undertone_bench::variants::VariantsError;
use undertone_conformance::PeerError;

use crowd::{CrowdError, IdleCrowd};
pub(crate) use options::IdleOptions;
use report::Report;
use subject::Subject;
use whole_node::WholeNode;

use crate::output;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Variants(#[from] VariantsError),
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    #[error(transparent)]
    Node(#[from] HostileError),
    #[error(
        "{label}: knew {known} of {connections} nodes to be subscribed, or its mesh was never the same for \
         {settle_s} s, within {deadline_s} s; give fewer --connections or --settle-seconds"
    )]
    Unsettled {
        label: String,
        known: usize,
        connections: usize,
        settle_s: u32,
        deadline_s: u64,
    },
}

pub(crate) async fn run(options: &IdleOptions) -> Result<String, Failure> {
    let mut report = Report::new(options.connections, options.seconds);
    for command in options.variants.commands()? {
        let label = command.label().to_owned();
        eprintln!("{label}: connecting {} nodes", options.connections);
        let crowd = IdleCrowd::start(options.connections).await?;
        let mut subject = Subject::start(&command, &crowd).await?;
        let in_mesh = subject.settle(options.settle_seconds).await?;
        eprintln!(
            "{label}: idle for {} s, {in_mesh} in its mesh",
            options.seconds
        );
        let time = Duration::from_secs(options.seconds.into());
        let usage = subject.watch(time).await?;
        subject.quit().await?;
        crowd.stop().await;
        report.add(label, in_mesh, usage);
    }
    if let Some(program) = &options.node {
        eprintln!("a whole node: connecting {} nodes", options.connections);
        let crowd = IdleCrowd::start(options.connections).await?;
        let node = WholeNode::start(program, &crowd).await?;
        let connections = options.connections.into();
        let in_mesh = node.settle(connections, options.settle_seconds).await?;
        let time = Duration::from_secs(options.seconds.into());
        let usage = node.watch(time).await;
        drop(node);
        crowd.stop().await;
        report.add("a whole node".to_owned(), in_mesh, usage);
    }
    Ok(match options.variants.json {
        true => output::json(&report),
        false => report.table(),
    })
}
