//! The command line of `cargo xtask`.

use crate::steps::Step;

pub(crate) const USAGE: &str = "\
usage: cargo xtask test [--strict] [--only NAME,..]
       cargo xtask test --list

  --strict       a step that is skipped counts as failed
  --only NAMES   run these steps only
  --list         print the names of the steps and what they do";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    List,
    Test { steps: Vec<Step>, strict: bool },
}

/// Reads the arguments after the program's name; an error is for the person who typed them.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Task, String> {
    let mut args = args.into_iter();
    match args.next().as_deref() {
        Some("test") => {}
        Some("--help" | "-h" | "help") => return Ok(Task::Help),
        Some(other) => return Err(format!("unknown task {other:?}; there is: test")),
        None => return Err("no task given; there is: test".to_owned()),
    }
    let mut strict = false;
    let mut list = false;
    let mut only = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--strict" => strict = true,
            "--list" => list = true,
            "--help" | "-h" => return Ok(Task::Help),
            "--only" => {
                let names = args.next();
                only = Some(names.ok_or("--only needs the names of steps, as in --only fmt,tidy")?);
            }
            other => match other.strip_prefix("--only=") {
                Some(names) => only = Some(names.to_owned()),
                None => return Err(format!("unknown option {other:?} of test")),
            },
        }
    }
    if list {
        return Ok(Task::List);
    }
    let steps = only.map_or_else(|| Ok(Step::ALL.to_vec()), |names| select(&names))?;
    Ok(Task::Test { steps, strict })
}

/// The named steps, each once, in the order in which they run.
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
