//! Benchmarks of peer processes and of nodes, one for each subcommand.

mod chain;
mod feed;
mod handshakes;
mod idle;
mod mux_windows;
mod output;
mod profiles;
mod serving;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::runtime::Builder;

/// Measures peer processes and nodes. Run it on a machine with nothing else to do.
#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Options {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Chain(chain::ChainOptions),
    Feed(feed::FeedOptions),
    Handshakes(handshakes::HandshakesOptions),
    Idle(idle::IdleOptions),
    MuxWindows(mux_windows::MuxWindowsOptions),
    Profiles(profiles::ProfilesOptions),
    Serving(serving::ServingOptions),
}

fn main() -> ExitCode {
    match run(&Options::parse().benchmark) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a benchmark and prints its results; returns whether everything expected arrived.
fn run(benchmark: &Benchmark) -> Result<bool, Box<dyn Error>> {
    // Only an emulated network needs several threads; otherwise a single thread leaves the processors to the measured
    // processes.
    let mut runtime = match benchmark {
        Benchmark::Profiles(_) => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    runtime.enable_all().build()?.block_on(async {
        let text = match benchmark {
            Benchmark::Chain(options) => chain::run(options).await?,
            Benchmark::Feed(options) => feed::run(options).await?,
            Benchmark::Handshakes(options) => handshakes::run(options).await?,
            Benchmark::Idle(options) => idle::run(options).await?,
            Benchmark::MuxWindows(options) => mux_windows::run(options).await?,
            Benchmark::Profiles(options) => profiles::run(options).await?,
            Benchmark::Serving(options) => {
                let figures = serving::run(options).await?;
                println!("{figures}");
                return Ok(figures.is_complete());
            }
        };
        println!("{text}");
        Ok(true)
    })
}
