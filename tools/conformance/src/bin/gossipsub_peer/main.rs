//! Peer built on `libp2p-gossipsub` with TCP, noise and yamux. Speaks the line protocol of
//! `tools/conformance/README.md`.

mod commands;
mod network;
mod options;
mod reports;

use clap::Parser;
use futures::StreamExt;
use libp2p::Swarm;
use libp2p::swarm::SwarmEvent;
use libp2p_gossipsub as gossipsub;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use undertone_conformance::frame_counter::TrafficCounter;
use undertone_conformance::protocol::{Event, Outcome, Ready, Reply, Request};

use commands::{Commands, NextCommand};
use network::{Behaviour, BehaviourEvent};
use options::GossipsubPeerOptions;
use reports::Reports;

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Setup(#[from] network::SetupError),
    #[error("standard input or output: {0}")]
    Pipe(#[from] std::io::Error),
    #[error("standard input: {source} in the line {line}")]
    Line {
        line: String,
        source: serde_json::Error,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Err(failure) = run(&GossipsubPeerOptions::parse()).await {
        eprintln!("gossipsub-peer: {failure}");
        std::process::exit(1);
    }
}

async fn run(options: &GossipsubPeerOptions) -> Result<(), Failure> {
    let counter = TrafficCounter::default();
    let mut swarm = network::swarm(options, counter.clone())?;
    let addrs = network::listen(&mut swarm, options).await?;
    let own_id = *swarm.local_peer_id();
    let addrs = addrs
        .into_iter()
        .map(|addr| format!("{addr}/p2p/{own_id}"))
        .collect();
    write(&Event::Ready(Ready {
        peer: own_id.to_string(),
        addrs,
    }))?;

    let mut commands = Commands::new(counter);
    let mut reports = Reports::default();
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                // The pipe of a dead driver closes, and a peer must not outlive its driver.
                let Some(line) = line? else { return Ok(()) };
                let request: Request = serde_json::from_str(&line)
                    .map_err(|source| Failure::Line { line, source })?;
                let reference = request.reference;
                match commands.start(&mut swarm, request) {
                    NextCommand::Answer(outcome) => write(&Reply { reference, outcome })?,
                    NextCommand::Later => {}
                    NextCommand::Quit => {
                        reports.take().iter().try_for_each(write)?;
                        let outcome = Outcome::Ok(serde_json::json!({}));
                        return Ok(write(&Reply { reference, outcome })?);
                    }
                }
            }
            event = swarm.select_next_some() => on_event(&mut swarm, &mut commands, &mut reports, event)?,
            () = reports.due() => reports.take().iter().try_for_each(write)?,
        }
    }
}

fn on_event(
    swarm: &mut Swarm<Behaviour>,
    commands: &mut Commands,
    reports: &mut Reports,
    event: SwarmEvent<BehaviourEvent>,
) -> std::io::Result<()> {
    match event {
        SwarmEvent::Behaviour(BehaviourEvent::Gossip(gossipsub::Event::Message {
            propagation_source,
            message_id,
            message,
        })) => {
            reports.received(&propagation_source, &message_id, message);
            Ok(())
        }
        SwarmEvent::ConnectionEstablished {
            connection_id,
            peer_id,
            ..
        } => commands
            .connected(connection_id, peer_id)
            .map_or(Ok(()), |reply| write(&reply)),
        SwarmEvent::OutgoingConnectionError {
            connection_id,
            error,
            ..
        } => commands
            .not_connected(connection_id, &error)
            .map_or(Ok(()), |reply| write(&reply)),
        SwarmEvent::ConnectionClosed { peer_id, cause, .. } => {
            let connected = swarm.is_connected(&peer_id);
            eprintln!("connection to {peer_id} closed ({cause:?}), others left: {connected}");
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Writes one line and flushes it, so that the driver sees it at once.
fn write(value: &impl serde::Serialize) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
