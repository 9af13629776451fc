//! Command line of `cargo xtask`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use crate::campaigns::CAMPAIGNS;
use crate::steps::{STEPS, Step, Tier};

/// Project tasks. Exit codes: 0 success, 1 a step, check or campaign failed, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run the tests that need Rust and a C compiler, or with --all every step
    Test(TestArgs),
    /// Run long tests and measurements, each for minutes or hours
    Campaign(CampaignArgs),
    /// Check house rules that no other tool checks (a part of the step `tidy`)
    Tidy,
    /// Print the expressions of a Grafana dashboard as rules of Prometheus (a part of the step `deploy`)
    Dashboard {
        /// File of the dashboard, in JSON
        file: PathBuf,
    },
    /// Compare the traces of simulations on one and on several processes of MPI (a part of `mpi`)
    Traces {
        /// Run a network of 100,000 nodes with the release build
        #[arg(long)]
        large: bool,
    },
    /// Run fuzz targets (the campaign `fuzz`)
    Fuzz {
        /// Names of targets; all without any
        targets: Vec<String>,
    },
    /// Measure size and start of an operator's program (a part of the campaign `start`)
    Start,
}

#[derive(Debug, Default, Args)]
pub(crate) struct TestArgs {
    /// Also run the steps that need more than Rust and a C compiler
    #[arg(long)]
    pub(crate) all: bool,
    /// Install what a step needs (apt as root, rustup, npm, PyPI, Go modules, crates.io); a step that still lacks something fails
    #[arg(long)]
    pub(crate) install: bool,
    /// Run these steps only
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = steps())]
    pub(crate) only: Vec<String>,
    /// Leave these steps out
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = steps())]
    pub(crate) skip: Vec<String>,
    /// Print the steps and what they check, and run none
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignArgs {
    /// Install what a campaign needs (apt as root, npm, PyPI)
    #[arg(long)]
    pub(crate) install: bool,
    /// Run these campaigns only
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = campaigns())]
    pub(crate) only: Vec<String>,
    /// Print the campaigns and what they do, and run none
    #[arg(long)]
    pub(crate) list: bool,
    /// Arguments for the program of the one campaign that is named
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
}

fn steps() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name))
}

fn campaigns() -> PossibleValuesParser {
    PossibleValuesParser::new(CAMPAIGNS.iter().map(|campaign| campaign.name))
}

impl TestArgs {
    /// Returns the requested steps, in the order in which they run.
    pub(crate) fn steps(&self) -> Vec<&'static Step> {
        let is_named = |names: &[String], step: &Step| names.iter().any(|name| name == step.name);
        let is_chosen = |step: &Step| match self.only.is_empty() {
            true => self.all || step.tier == Tier::Bare,
            false => is_named(&self.only, step),
        };
        let chosen = STEPS.iter().filter(|step| is_chosen(step));
        chosen.filter(|step| !is_named(&self.skip, step)).collect()
    }
}

#[cfg(test)]
#[path = "tests/cli.rs"]
mod tests;
