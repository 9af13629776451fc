//! `undertone rln bench`: costs of rate limiting on this machine, beside published figures.

pub(crate) mod memory;
pub(crate) mod proofs;
mod published;
mod report;
pub(crate) mod tree;

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::ProgressBar;
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
    let memory = memory::measure()?;
    progress.set_message("a tree of 10,000 members");
    let tree = tree::measure(runs);
    progress.set_message("loading the key");
    let key = Key::load().map_err(|error| Failure::new(error.to_string()))?;
    let proofs = proofs::measure(&key, runs, |size_kb| {
        progress.set_message(format!("proofs for messages of {size_kb} kB"));
    })?;
    progress.finish_and_clear();
    output::print(&report::Report::new(proofs, tree, memory), json)
}

/// Processor time of this process, which excludes other processes on the machine.
mod clock {
    use rustix::time::{ClockId, clock_gettime};

    fn now_ms() -> f64 {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    }

    /// Returns the median of `runs` runs, each on its own input, which is prepared outside the measurement.
    pub(super) fn median_ms<I, T>(
        runs: usize,
        mut prepare: impl FnMut() -> I,
        mut work: impl FnMut(I) -> T,
    ) -> f64 {
        let mut times: Vec<f64> = (0..runs)
            .map(|_| {
                let input = prepare();
                let before = now_ms();
                let result = std::hint::black_box(work(input));
                let after = now_ms();
                drop(result);
                after - before
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}
