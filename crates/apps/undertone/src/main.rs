//! The Undertone command line. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 (of `store verify`) history that
//! is not valid, 130 (of `sim` and `sweep`) work that was interrupted and kept.
//!
//! Without the features `chat` and `lab` it has only the commands for operators: `node`, `doctor`, `migrate`,
//! `registry`, `rln`, `store` and `completions`.

mod commands;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::{Shell, generate};

#[cfg(feature = "chat")]
use commands::chat;
use commands::{Failure, doctor, migrate, node, node_flags, registry, rln, store};
#[cfg(feature = "lab")]
use commands::{attack, demo, lab, model, sim, sweep, testbed};

#[cfg_attr(feature = "lab", doc = "A Waku node and network laboratory")]
#[cfg_attr(not(feature = "lab"), doc = "A Waku node")]
#[derive(Parser, Debug)]
#[command(name = "undertone", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Search for attacks on a simulated network
    #[cfg(feature = "lab")]
    Attack(attack::Args),
    /// Chat in a room, on a node of one's own: clear text or encrypted, and each message answered for
    #[cfg(feature = "chat")]
    Chat(Box<chat::Args>),
    /// Print the completions of a shell: undertone completions bash
    Completions {
        /// Shell whose completions are printed
        shell: Shell,
    },
    /// Run a real network on this machine: five nodes, messages of four sizes, a spammer cut off
    #[cfg(feature = "lab")]
    Demo(demo::Args),
    /// Examine this machine for a node: ports, disk, clock, chain, peers; takes the flags of `node`
    Doctor(Box<doctor::Args>),
    /// Reproduce published tables and figures, and report the differences
    #[cfg(feature = "lab")]
    Lab(lab::Args),
    /// Move in from another node: its flags, keys, membership and archive
    Migrate(migrate::Args),
    /// Evaluate closed forms: hops, copies, latency; with a scenario, compare them with a simulation
    #[cfg(feature = "lab")]
    Model(model::Args),
    /// Run a Waku node until SIGTERM or SIGINT
    Node(node::Args),
    /// Deploy or read a network's membership contract on a chain
    Registry(Box<registry::Args>),
    /// Rate-limit memberships and proofs: keygen, register, list, remove, keystore, prove, ...
    Rln(Box<rln::Args>),
    /// Simulate a network in virtual time, and compare it with published figures
    #[cfg(feature = "lab")]
    Sim(sim::Args),
    /// Read history from a store, and verify it against the membership of its time
    Store(Box<store::Args>),
    /// Simulate a scenario over values of its keys and over seeds
    #[cfg(feature = "lab")]
    Sweep(sweep::Args),
    /// Run scenarios with real nodes over an emulated wide-area network: real TCP, real proofs
    #[cfg(feature = "lab")]
    Testbed(testbed::Args),
}

fn main() -> ExitCode {
    // On wrong usage clap prints its own message and exits with status 2 here.
    let cli = Cli::try_parse().unwrap_or_else(|error| node_flags::with_tip(error).exit());
    let result = match &cli.command {
        #[cfg(feature = "lab")]
        Command::Attack(args) => attack::run(args),
        #[cfg(feature = "chat")]
        Command::Chat(args) => chat::run(args),
        Command::Completions { shell } => {
            generate(*shell, &mut Cli::command(), "undertone", &mut io::stdout());
            Ok(())
        }
        #[cfg(feature = "lab")]
        Command::Demo(args) => demo::run(args),
        Command::Doctor(args) => doctor::run(args),
        #[cfg(feature = "lab")]
        Command::Lab(args) => lab::run(args),
        Command::Migrate(args) => migrate::run(args),
        #[cfg(feature = "lab")]
        Command::Model(args) => model::run(args),
        Command::Node(args) => node::run(args),
        Command::Registry(args) => registry::run(args),
        Command::Rln(args) => rln::run(args),
        #[cfg(feature = "lab")]
        Command::Sim(args) => sim::run(args),
        Command::Store(args) => store::run(args),
        #[cfg(feature = "lab")]
        Command::Sweep(args) => sweep::run(args),
        #[cfg(feature = "lab")]
        Command::Testbed(args) => testbed::run(args),
    };
    result.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}
