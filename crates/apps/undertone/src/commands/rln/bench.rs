//! `undertone rln bench`: costs of rate limiting on this machine, next to published figures.

mod memory;
mod published;
mod report;

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::ProgressBar;
use undertone_fleet::measure::{proofs, tree};
use undertone_rln::Key;

use super::Failure;
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Runs of each measurement, of which the median is printed
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Print only this process's resident memory, in bytes; `bench` starts its children with this flag
    #[arg(long, value_name = "WITH|WITHOUT", hide = true)]
    memory_of: Option<memory::Child>,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    if let Some(child) = args.memory_of {
        return child.run();
    }
    let progress = if json || !io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    };
    progress.enable_steady_tick(Duration::from_millis(100));
    let runs = args.runs as usize;
    progress.set_message("memory with and without RLN");
    let memory = memory::measure_both()?;
    progress.set_message("a tree of 10,000 members");
    let tree = tree::measure(runs);
    progress.set_message("loading the key");
    let key = Key::load().map_err(|error| Failure::new(error.to_string()))?;
    let proofs = proofs::measure(&key, runs, |size_kb| {
        progress.set_message(format!("proofs for messages of {size_kb} kB"));
    });
    let proofs = proofs.map_err(|error| Failure::new(error.to_string()))?;
    progress.finish_and_clear();
    output::print(&report::Report::new(proofs, tree, memory), json)
}
