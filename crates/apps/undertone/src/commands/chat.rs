//! `undertone chat`: a messenger in the terminal, on a node of its own.

mod options;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use undertone_chat::{Chat, ChatError, LineStyle};
use undertone_node::assemble::assemble;
use undertone_node::logging;

pub(crate) use self::options::Args;
use super::Failure;

/// Chats until the user ends it.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (config, room) = args.resolve()?;
    let mut rng = undertone_rln::prover::os_rng()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let nick = args.own_nick(&mut rng)?;
    let filter = std::env::var(logging::VARIABLE).ok();
    logging::init(config.log, filter.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let cannot_start = |error: io::Error| Failure::new(format!("cannot start: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(cannot_start)?;
    runtime.block_on(async {
        let stop = stop_signals().map_err(cannot_start)?;
        let node = assemble(&config)
            .await
            .map_err(|error| Failure::new(error.to_string()))?;
        let chat = Chat {
            config: &config,
            node: &node,
            room,
            nick,
            rng,
            end_wait: Duration::from_secs(args.end_wait_s.into()),
        };
        let has_screen =
            !args.json && !args.lines && io::stdout().is_terminal() && io::stdin().is_terminal();
        let ended = if has_screen {
            let log = config.data_dir.join("chat.log");
            chat.run_on_screen(&log, stop).await
        } else {
            let style = LineStyle {
                json: args.json,
                listen: args.listen,
            };
            chat.run_in_lines(style, stop).await
        };
        node.stop().await;
        ended.map_err(failure)
    })
}

fn failure(error: ChatError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.remedy() {
        Some(remedy) => failure.with_help(remedy),
        None => failure,
    }
}

/// Waits for a signal that ends the program.
fn stop_signals() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
