//! Project tasks. Exit codes: 0 success, 1 a step or campaign failed, 2 wrong usage.

mod args;
mod campaigns;
mod counts;
mod instructions;
mod processor;
mod report;
mod run;
mod sources;
mod steps;
mod tidy;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use args::Task;
use campaigns::Campaign;
use counts::Lists;
use report::Report;
use steps::{Outcome, Step};

fn main() -> ExitCode {
    if let Some(ended) = steps::driver::as_compiler() {
        return ended;
    }
    if let Some(ended) = steps::documentation::as_rustdoc() {
        return ended;
    }
    match args::parse(env::args().skip(1)) {
        Ok(Task::Help) => {
            println!("{}", args::USAGE);
            ExitCode::SUCCESS
        }
        Ok(Task::List) => {
            for step in Step::ALL {
                println!("{:9} {}", step.name(), step.about());
            }
            ExitCode::SUCCESS
        }
        Ok(Task::Test {
            steps,
            strict,
            results,
        }) => test(&steps, strict, results.as_deref()),
        Ok(Task::ListCampaigns) => {
            print_campaigns();
            ExitCode::SUCCESS
        }
        Ok(Task::CampaignHelp) => {
            println!("{}\n\ncampaigns:", args::USAGE);
            print_campaigns();
            ExitCode::SUCCESS
        }
        Ok(Task::Campaign {
            campaigns,
            arguments,
        }) => run_campaigns(&campaigns, &arguments),
        Ok(Task::Counts { json, lists }) => print_counts(json, lists),
        Ok(Task::Instructions { accept }) => count_instructions(accept),
        Err(mistake) => wrong_usage(&mistake),
    }
}

/// Runs the steps and prints their results, which it also writes into a file if one is given.
fn test(steps: &[Step], strict: bool, results: Option<&Path>) -> ExitCode {
    let Some(root) = root() else {
        return wrong_usage("the workspace is not known; start this as `cargo xtask`");
    };
    steps::driver::prepare(&root);
    let began = Instant::now();
    let report = Report {
        rows: run::all(&root, steps),
        took: began.elapsed(),
        strict,
    };
    println!("\n{report}");
    if let Some(path) = results
        && let Err(error) = fs::write(path, report::lines(&report.rows))
    {
        eprintln!("error: {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print_campaigns() {
    for campaign in Campaign::ALL {
        println!("{:14} {}", campaign.name(), campaign.about());
    }
}

/// Runs campaigns one after the other; their results go to standard output, their names to standard
/// error.
fn run_campaigns(campaigns: &[Campaign], arguments: &[String]) -> ExitCode {
    let Some(root) = root() else {
        return wrong_usage("the workspace is not known; start this as `cargo xtask`");
    };
    steps::driver::prepare(&root);
    let mut is_good = true;
    for campaign in campaigns {
        eprintln!("== {} ==", campaign.name());
        if let Outcome::Failed(reason) = campaign.run(&root, arguments) {
            eprintln!("{} failed: {reason}", campaign.name());
            is_good = false;
        }
    }
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the counts of the source text.
fn print_counts(json: bool, lists: Lists) -> ExitCode {
    let Some(root) = root() else {
        return wrong_usage("the workspace is not known; start this as `cargo xtask`");
    };
    let counts = match counts::count(&root) {
        Ok(counts) => counts,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let page = if json {
        counts.json()
    } else {
        counts.page(lists)
    };
    // The lists are long: a reader such as `head` may close the pipe early.
    match writeln!(io::stdout(), "{page}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the instructions of the hot paths, and compares them with the record or records them.
fn count_instructions(accept: bool) -> ExitCode {
    let Some(root) = root() else {
        return wrong_usage("the workspace is not known; start this as `cargo xtask`");
    };
    match instructions::run(&root, accept) {
        Ok(page) => {
            println!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the root folder of the workspace, the parent of this package's folder.
fn root() -> Option<PathBuf> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    Some(package.parent()?.to_owned())
}

fn wrong_usage(mistake: &str) -> ExitCode {
    eprintln!("error: {mistake}\n\n{}", args::USAGE);
    ExitCode::from(2)
}
