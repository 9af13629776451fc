//! Command line of `cargo xtask`.

use std::path::PathBuf;

use crate::campaigns::Campaign;
use crate::counts::Lists;
use crate::steps::Step;

pub(crate) const USAGE: &str = "\
usage: cargo xtask test [--strict] [--only NAME,..] [--results FILE]
       cargo xtask test --list
       cargo xtask campaign [--only NAME,..] [-- ARGUMENT..]
       cargo xtask campaign --list
       cargo xtask counts [--json] [--names] [--circles]
       cargo xtask instructions [--accept]

  --strict       a step that is skipped counts as failed
  --only NAMES   run these steps or campaigns only
  --results FILE write the results into a file, too: a line for each step, with fields separated by tabs
  --list         print the names of the steps or campaigns and what they do
  ARGUMENT..     handed on to the campaign's program; for one campaign only
  --json         print the counts and their lists as JSON
  --names        list the names of types that are defined at least twice
  --circles      list the files of each circle of imports
  --accept       record the counted instructions instead of comparing them with the record";

/// Task that the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    List,
    Test {
        steps: Vec<Step>,
        strict: bool,
        results: Option<PathBuf>,
    },
    ListCampaigns,
    CampaignHelp,
    Campaign {
        campaigns: Vec<Campaign>,
        arguments: Vec<String>,
    },
    Counts {
        json: bool,
        lists: Lists,
    },
    Instructions {
        accept: bool,
    },
}

/// Names of the tasks, for messages.
const TASKS: &str = "test, campaign, counts, instructions";

/// Parses the arguments after the program's name; an error is a message for the user.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Task, String> {
    let mut args = args.into_iter();
    match args.next().as_deref() {
        Some("test") => {}
        Some("campaign") => return campaign(args),
        Some("counts") => return counts(args),
        Some("instructions") => return instructions(args),
        Some("--help" | "-h" | "help") => return Ok(Task::Help),
        Some(other) => return Err(format!("unknown task {other:?}; there are: {TASKS}")),
        None => return Err(format!("no task given; there are: {TASKS}")),
    }
    let mut strict = false;
    let mut list = false;
    let mut results = None;
    let mut only: Vec<String> = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--results" => {
                let path = args.next();
                results = Some(path.ok_or("--results needs the path of a file")?.into());
            }
            "--strict" => strict = true,
            "--list" => list = true,
            "--help" | "-h" => return Ok(Task::Help),
            "--only" => {
                let names = args.next();
                only.push(names.ok_or("--only needs the names of steps, as in --only fmt,tidy")?);
            }
            other => match other.strip_prefix("--only=") {
                Some(names) => only.push(names.to_owned()),
                None => return Err(format!("unknown option {other:?} of test")),
            },
        }
    }
    if list {
        return Ok(Task::List);
    }
    let steps = match only.is_empty() {
        true => Step::ALL.to_vec(),
        false => select(&only.join(","))?,
    };
    Ok(Task::Test {
        steps,
        strict,
        results,
    })
}

/// Parses the arguments after `campaign`.
fn campaign(mut args: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut list = false;
    let mut only: Vec<String> = Vec::new();
    let mut arguments = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => list = true,
            "--help" | "-h" => return Ok(Task::CampaignHelp),
            "--" => arguments.extend(args.by_ref()),
            other => {
                let names = match other {
                    "--only" => args.next(),
                    _ => other.strip_prefix("--only=").map(str::to_owned),
                };
                match names {
                    Some(names) => only.push(names),
                    None if other == "--only" => {
                        return Err("--only needs names, as in --only hostile".to_owned());
                    }
                    None => return Err(format!("unknown option {other:?} of campaign")),
                }
            }
        }
    }
    if list {
        return Ok(Task::ListCampaigns);
    }
    let campaigns = match only.is_empty() {
        true => Campaign::ALL.to_vec(),
        false => named_campaigns(&only.join(","))?,
    };
    if campaigns.len() > 1 && !arguments.is_empty() {
        return Err("arguments after -- are for one campaign; name it with --only".to_owned());
    }
    Ok(Task::Campaign {
        campaigns,
        arguments,
    })
}

/// Parses the arguments after `counts`.
fn counts(args: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut json = false;
    let mut lists = Lists::default();
    for arg in args {
        match arg.as_str() {
            "--json" => json = true,
            "--names" => lists.names = true,
            "--circles" => lists.circles = true,
            "--help" | "-h" => return Ok(Task::Help),
            other => return Err(format!("unknown option {other:?} of counts")),
        }
    }
    Ok(Task::Counts { json, lists })
}

/// Parses the arguments after `instructions`.
fn instructions(args: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut accept = false;
    for arg in args {
        match arg.as_str() {
            "--accept" => accept = true,
            "--help" | "-h" => return Ok(Task::Help),
            other => return Err(format!("unknown option {other:?} of instructions")),
        }
    }
    Ok(Task::Instructions { accept })
}

/// Returns the named campaigns, each once, in the order in which they run.
fn named_campaigns(names: &str) -> Result<Vec<Campaign>, String> {
    let names: Vec<_> = names.split(',').map(str::trim).collect();
    let known = Campaign::ALL.map(Campaign::name);
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!(
            "unknown campaign {name:?}; there are: {}",
            known.join(", ")
        ));
    }
    let all = Campaign::ALL.into_iter();
    Ok(all
        .filter(|campaign| names.contains(&campaign.name()))
        .collect())
}

/// Returns the named steps, each once, in the order in which they run.
fn select(names: &str) -> Result<Vec<Step>, String> {
    let names: Vec<_> = names.split(',').map(str::trim).collect();
    let known = Step::ALL.map(Step::name);
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!(
            "unknown step {name:?}; there are: {}",
            known.join(", ")
        ));
    }
    let named = Step::ALL.into_iter();
    Ok(named.filter(|step| names.contains(&step.name())).collect())
}

#[cfg(test)]
mod tests;
