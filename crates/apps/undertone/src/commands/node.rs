//! `undertone node`: runs a node until SIGTERM or SIGINT; SIGHUP reloads its configuration.

mod check;
mod groups;
mod reload;
#[cfg(feature = "lab")]
mod router;
mod signals;

use std::path::PathBuf;

use undertone_node::assemble::{
    Assembled, MakeProofs, StopOutcome, assemble_with, check as check_files,
};
use undertone_node::config::{KEYS, NodeConfig, Sources};
use undertone_node::{logging, raise_files_limit};

use self::reload::Reloader;
use self::signals::{NodeOrder, NodeSignals};
use super::{Failure, output};

/// Flags of `undertone node`: `--config-file`, `--json`, one for each configuration key, and with the
/// feature `lab` also `--relay-parameters`.
#[derive(Debug)]
pub(crate) struct Args {
    config_file: Option<PathBuf>,
    #[cfg(feature = "lab")]
    relay_parameters: Option<PathBuf>,
    json: bool,
    check: bool,
    flags: Vec<(String, String)>,
}

impl clap::FromArgMatches for Args {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let text = |id: &str| matches.get_one::<String>(id).cloned();
        let flags = KEYS
            .iter()
            .filter_map(|key| Some((key.name.to_owned(), text(key.name)?)));
        Ok(Self {
            config_file: matches.get_one::<PathBuf>("config-file").cloned(),
            #[cfg(feature = "lab")]
            relay_parameters: matches.get_one::<PathBuf>("relay-parameters").cloned(),
            json: matches.get_flag("json"),
            check: matches.get_flag("check"),
            flags: flags.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Args {
    fn augment_args(command: clap::Command) -> clap::Command {
        let file = clap::Arg::new("config-file")
            .long("config-file")
            .value_name("FILE")
            .env("UNDERTONE_CONFIG_FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("TOML file with the keys below; environment and flags override it");
        let json = clap::Arg::new("json")
            .long("json")
            .action(clap::ArgAction::SetTrue)
            .help("Print one JSON object with the node's addresses when it is ready");
        let check = clap::Arg::new("check")
            .long("check")
            .action(clap::ArgAction::SetTrue)
            .help(
                "Check the configuration, explain each key and where its value comes from, and end",
            );
        let command = command.arg(file);
        // The laboratory passes the parameters of a scenario in this file.
        #[cfg(feature = "lab")]
        let command = command.arg(router::flag());
        command.arg(json).arg(check).args(groups::flags())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl Args {
    /// Loads and checks the configuration.
    pub(crate) fn load(&self) -> Result<NodeConfig, Failure> {
        let config = NodeConfig::load(&self.sources());
        let config = config.map_err(|error| Failure::usage(error.to_string()))?;
        #[cfg(feature = "lab")]
        let config = router::read(config, self.relay_parameters.as_deref())?;
        Ok(config)
    }

    /// Whether to print JSON.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    fn sources(&self) -> Sources {
        Sources::from_process(self.config_file.clone(), self.flags.clone())
    }
}

/// Runs the node until SIGTERM or SIGINT.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    run_with(args, |_| Ok(None))
}

/// Runs the node like [`run`], but with another source of proofs if `make_proofs` returns one for the
/// configuration.
pub(crate) fn run_with(
    args: &Args,
    make_proofs: impl FnOnce(&NodeConfig) -> Result<Option<MakeProofs>, Failure>,
) -> Result<(), Failure> {
    let config = args.load()?;
    if args.check {
        check_files(&config).map_err(|error| Failure::usage(error.to_string()))?;
        if let Some(warning) = config.services.warning() {
            eprintln!("warning: {warning}");
        }
        let explained = check::explain(&args.sources())?;
        return output::print(&explained, args.json);
    }
    let make_proofs = make_proofs(&config)?;
    let filter = std::env::var("UNDERTONE_LOG").ok();
    logging::init(config.log, filter.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let files = raise_files_limit();
    tracing::debug!(?files, "most open files");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let ended = runtime.block_on(operate(args, &config, make_proofs));
    // Work that did not end in time must not delay the end of the process.
    runtime.shutdown_background();
    ended
}

/// Starts the node and runs it until a signal stops it.
async fn operate(
    args: &Args,
    config: &NodeConfig,
    make_proofs: Option<MakeProofs>,
) -> Result<(), Failure> {
    let mut signals = NodeSignals::listen()?;
    let mut reloader = Reloader::new(args, config)?;
    let node = tokio::select! {
        node = assemble_with(config, make_proofs) => node,
        name = signals.stop() => {
            tracing::info!("{name}: the node had not started yet");
            return Ok(());
        }
    };
    let node = node.map_err(|error| Failure::new(error.to_string()))?;
    announce(&node, args.json);
    let name = loop {
        match signals.next().await {
            NodeOrder::Stop(name) => break name,
            NodeOrder::Reload => reloader.reload(&node).await,
        }
    };
    tracing::info!("{name}: stopping");
    tokio::select! {
        outcome = node.stop() => finish(outcome),
        name = signals.stop_again(name) => Err(Failure::new(format!(
            "a second signal ({name}) ended the node at once; messages that waited for the archive are lost"
        ))),
    }
}

/// Converts how the node stopped to the result of the process.
fn finish(outcome: StopOutcome) -> Result<(), Failure> {
    if outcome.is_complete() {
        return Ok(());
    }
    let lost = outcome.unsaved.messages;
    Err(Failure::new(format!(
        "the node did not stop completely in time: {lost} messages are missing from the archive; see the errors before"
    )))
}

fn announce(node: &Assembled, json: bool) {
    let addresses: Vec<_> = node
        .node
        .addresses
        .iter()
        .map(ToString::to_string)
        .collect();
    let rest = node.rest.map(|address| format!("http://{address}"));
    if json {
        let ready = serde_json::json!({
            "peerId": node.node.peer_id.to_string(),
            "listenAddresses": addresses,
            "rest": rest,
            "mayPublish": node.may_publish,
        });
        println!("{ready}");
        return;
    }
    for address in addresses {
        println!("listening on {address}");
    }
    if let Some(rest) = rest {
        println!("REST at {rest}");
    }
}
