//! The Undertone command line. Exit codes: 0 done, 1 the work failed, 2 wrong usage.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{Failure, demo, lab, model, node, registry, rln, sim, testbed};

/// A Waku node and network laboratory
#[derive(Parser, Debug)]
#[command(name = "undertone", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// A real network on this machine: five nodes, messages of four sizes, a spammer cut off
    Demo(demo::Args),
    /// Published tables and figures, ours beside them
    Lab(lab::Args),
    /// Closed forms: hops, copies, latency; with a scenario, the prediction beside a simulation
    Model(model::Args),
    /// Run a node
    Node(node::Args),
    /// The membership contract of a network on a chain: deploy, sync
    Registry(Box<registry::Args>),
    /// Rate-limit memberships and proofs: keygen, register, list, remove, keystore, prove, ...
    Rln(Box<rln::Args>),
    /// A network in virtual time: run a scenario, compare it with published figures
    Sim(sim::Args),
    /// Real nodes over an emulated wide-area network: the same scenarios, real TCP, real proofs
    Testbed(testbed::Args),
}

fn main() -> ExitCode {
    // Wrong usage ends here, with status 2 and clap's own words.
    let result = match &Cli::parse().command {
        Command::Demo(args) => demo::run(args),
        Command::Lab(args) => lab::run(args),
        Command::Model(args) => model::run(args),
        Command::Node(args) => node::run(args),
        Command::Registry(args) => registry::run(args),
        Command::Rln(args) => rln::run(args),
        Command::Sim(args) => sim::run(args),
        Command::Testbed(args) => testbed::run(args),
    };
    result.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}
