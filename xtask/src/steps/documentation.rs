//! Step of the documentation: cargo runs the examples in it, and this program, which it takes for rustdoc, builds the pages
//! from the same arguments. `cargo doc` would first check each dependency, which nothing else of the tests needs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use super::{Outcome, cargo, selection, target_folder};

#[cfg(test)]
mod tests;

/// Variable with the path of rustdoc, for this program when cargo runs it as rustdoc.
const RUSTDOC: &str = "UNDERTONE_RUSTDOC";

/// Variable with the folder of the pages.
const PAGES: &str = "UNDERTONE_RUSTDOC_PAGES";

/// Arguments of rustdoc that make it run examples.
const RUN_EXAMPLES: &str = "--test";
/// Arguments of rustdoc for examples only, each with a value.
const OF_EXAMPLES: [&str; 2] = ["--test-run-directory", "--test-args"];

/// Runs the examples in the documentation of all libraries and builds their pages, without a warning.
pub(super) fn run(root: &Path) -> Outcome {
    let own = match env::current_exe() {
        Ok(own) => own,
        Err(error) => return Outcome::Failed(format!("the path of this program: {error}")),
    };
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| OsString::from("rustdoc"));
    let pages = target_folder(root).join("doc");
    let (Some(own), Some(rustdoc), Some(pages)) = (own.to_str(), rustdoc.to_str(), pages.to_str())
    else {
        return Outcome::Failed("a path is not Unicode".to_owned());
    };
    let variables = [("RUSTDOC", own), (RUSTDOC, rustdoc), (PAGES, pages)];
    cargo(root, &selection::doc_tests(), &variables)
}

/// Acts as rustdoc, if cargo has started this program as that.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    let rustdoc = env::var_os(RUSTDOC)?;
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    Some(match examples_and_pages(&rustdoc, &args) {
        Ok(statuses) if statuses.iter().all(ExitStatus::success) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", rustdoc.display());
            ExitCode::FAILURE
        }
    })
}

/// Runs rustdoc with its arguments, and beside it for the pages, if the arguments are those for examples.
fn examples_and_pages(rustdoc: &OsStr, args: &[OsString]) -> io::Result<Vec<ExitStatus>> {
    let pages = env::var_os(PAGES).and_then(|pages| for_pages(args, &pages));
    let beside = pages.map(|pages| Command::new(rustdoc).args(pages).spawn());
    let beside = beside.transpose()?;
    let mut statuses = vec![Command::new(rustdoc).args(args).status()?];
    if let Some(mut beside) = beside {
        statuses.push(beside.wait()?);
    }
    Ok(statuses)
}

/// Returns the arguments that build the pages of the library whose examples the arguments run, with warnings as errors; `None`
/// if the arguments run none.
fn for_pages(args: &[OsString], folder: &OsStr) -> Option<Vec<OsString>> {
    if !args.iter().any(|arg| arg == RUN_EXAMPLES) {
        return None;
    }
    let mut pages = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if OF_EXAMPLES.iter().any(|option| arg == option) {
            // Its value.
            args.next();
        } else if arg != RUN_EXAMPLES {
            pages.push(arg.clone());
        }
    }
    pages.extend(["-D", "warnings", "--out-dir"].map(OsString::from));
    pages.push(folder.to_owned());
    Some(pages)
}
