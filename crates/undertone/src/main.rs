//! The Undertone command line. Exit codes: 0 success, 1 failure, 2 wrong usage.

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
    /// Run a real network on this machine: five nodes, messages of four sizes, a spammer cut off
    Demo(demo::Args),
    /// Reproduce published tables and figures, and report the differences
    Lab(lab::Args),
    /// Evaluate closed forms: hops, copies, latency; with a scenario, compare them with a simulation
    Model(model::Args),
    /// Run a Waku node until SIGTERM or SIGINT
    Node(node::Args),
    /// Deploy or read a network's membership contract on a chain
    Registry(Box<registry::Args>),
    /// Rate-limit memberships and proofs: keygen, register, list, remove, keystore, prove, ...
    Rln(Box<rln::Args>),
    /// Simulate a network in virtual time, and compare it with published figures
    Sim(sim::Args),
    /// Run scenarios with real nodes over an emulated wide-area network: real TCP, real proofs
    Testbed(testbed::Args),
}

fn main() -> ExitCode {
    // On wrong usage clap prints its own message and exits with status 2 here.
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
