//! Undertone relay as a peer program: the real node, driven by the line protocol of `tools/conformance/README.md`.

mod commands;
mod options;
mod output;

use std::sync::Arc;

use clap::Parser;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use undertone_conformance::protocol::{Command, Ready, Reply, Request};
use undertone_node::driver::{self, StartError};

use options::UndertonePeerOptions;
use output::Output;

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Network(#[from] undertone_message::UnknownNetwork),
    #[error(transparent)]
    Start(#[from] StartError),
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
    if let Err(failure) = run(UndertonePeerOptions::parse()).await {
        eprintln!("undertone-peer: {failure}");
        std::process::exit(1);
    }
}

async fn run(options: UndertonePeerOptions) -> Result<(), Failure> {
    let node = driver::start(options.node()?).await?;
    let (output, writer) = output::start()?;
    node.handle.add_sink(Arc::new(output.clone()));
    output.ready(Ready {
        peer: node.peer_id.to_string(),
        addrs: node.addresses.iter().map(ToString::to_string).collect(),
    });
    let served = serve(&node, output).await;
    // Stopping the node drops its sink, the last sender of lines, so the writer ends by itself.
    node.stop().await;
    // A panic of the writer was printed already.
    if let Ok(Ok(written)) = tokio::task::spawn_blocking(|| writer.join()).await {
        written?;
    }
    served
}

/// Serves commands until the driver sends `quit` or its pipe ends.
async fn serve(node: &driver::RunningNode, output: Output) -> Result<(), Failure> {
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Request =
            serde_json::from_str(&line).map_err(|source| Failure::Line { line, source })?;
        let Request { reference, command } = request;
        let quit = command == Command::Quit;
        let (handle, output) = (node.handle.clone(), output.clone());
        let answer = async move {
            let outcome = commands::answer(&handle, command).await;
            output.reply(Reply { reference, outcome });
        };
        if quit {
            answer.await;
            break;
        }
        // Tasks of this runtime start in the order in which they were spawned.
        tokio::spawn(answer);
    }
    Ok(())
}
