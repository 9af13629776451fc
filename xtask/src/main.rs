//! Project tasks: the tests of `cargo xtask test`, campaigns, and checks that no other tool does.

mod campaigns;
mod cli;
mod dashboard;
mod needs;
mod report;
mod run;
mod sources;
mod steps;
mod tidy;
mod traces;
mod workspace;

use std::env;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use campaigns::{CAMPAIGNS, fuzz, start};
use cli::{CampaignArgs, Cli, Task, TestArgs};
use report::Report;
use run::Place;
use steps::STEPS;

fn main() -> ExitCode {
    let task = Cli::parse().task;
    let Some(root) = root() else {
        eprintln!("error: the workspace is not known; start this as `cargo xtask`");
        return ExitCode::from(2);
    };
    match run_task(&root, task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task; returns whether its checks passed.
fn run_task(root: &Path, task: Task) -> Result<bool, Box<dyn Error>> {
    match task {
        Task::Test(args) => test(root, &args),
        Task::Campaign(args) => run_campaigns(root, &args),
        Task::Tidy => {
            let findings = tidy::check(root)?;
            for finding in &findings {
                eprintln!("{finding}");
            }
            Ok(findings.is_empty())
        }
        Task::Dashboard { file } => print(&dashboard::rules(&file)?),
        Task::Traces { large } => {
            let target = workspace::metadata(root)?.target_directory;
            traces::compare(&target, large)?;
            Ok(true)
        }
        Task::Fuzz { targets } => Ok(fuzz::run(root, &targets)?),
        Task::Start => {
            let target = workspace::metadata(root)?.target_directory;
            Ok(start::run(&target)?)
        }
    }
}

fn test(root: &Path, args: &TestArgs) -> Result<bool, Box<dyn Error>> {
    if args.list {
        let tier = |step: &steps::Step| match step.tier {
            steps::Tier::Bare => "",
            steps::Tier::All => "--all ",
        };
        let lines = STEPS
            .iter()
            .map(|step| format!("{:9} {:6} {}\n", step.name, tier(step), step.about));
        return print(lines.collect::<String>().trim_end());
    }
    let place = Place::new(root, args.install)?;
    let report = Report {
        rows: place.steps(&args.steps())?,
    };
    eprintln!("\n{report}");
    Ok(report.is_good())
}

fn run_campaigns(root: &Path, args: &CampaignArgs) -> Result<bool, Box<dyn Error>> {
    if args.list {
        let lines = CAMPAIGNS
            .iter()
            .map(|campaign| format!("{:14} {}\n", campaign.name, campaign.about));
        return print(lines.collect::<String>().trim_end());
    }
    let is_chosen = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let chosen: Vec<_> = CAMPAIGNS
        .iter()
        .filter(|campaign| is_chosen(campaign.name))
        .collect();
    if chosen.len() > 1 && !args.arguments.is_empty() {
        let mistake = "arguments after -- are for one campaign; name it with --only";
        let error = Cli::command().error(ErrorKind::ArgumentConflict, mistake);
        error.exit();
    }
    let place = Place::new(root, args.install)?;
    let mut is_good = true;
    for campaign in chosen {
        eprintln!("== {} ==", campaign.name);
        if let Err(error) = campaign.run(&place, &args.arguments) {
            eprintln!("{} failed: {error}", campaign.name);
            is_good = false;
        }
    }
    Ok(is_good)
}

/// Prints a page. A reader such as `head` may close the pipe early.
fn print(page: &str) -> Result<bool, Box<dyn Error>> {
    match writeln!(io::stdout(), "{page}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(true),
    }
}

/// Returns the root folder of the workspace, the parent of this package's folder.
fn root() -> Option<PathBuf> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    Some(package.parent()?.to_owned())
}
