//! Checks in Chromium: the report of the laboratory, and requests of foreign web pages to a node.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::SystemTime;

use super::{Outcome, apt, built_file, cargo, selection};

/// Names of the browser's program in different distributions.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Name of Debian's package of the browser.
const PACKAGE: &str = "chromium";
/// Records that have every shape of chart and every verdict.
const RECORDS: &str = "crates/lab/tests/page/records";
/// Folder of the script that checks the page.
const CHECK: &str = "crates/lab/tests/page/browser";
/// Folder of the script in which pages of other origins try to use a node.
const ATTACK: &str = "crates/node/tests/browser";

/// Returns the path of the browser, which is installed if necessary and possible. An error says why it is
/// not available, with a remedy.
pub(super) fn browser() -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    if let Some(found) = find(&NAMES, &path) {
        return Ok(found);
    }
    apt::install(PACKAGE).map_err(|reason| {
        format!("no Chromium ({reason}): install the package {PACKAGE}, or put it on the PATH")
    })?;
    find(&NAMES, &path).ok_or_else(|| format!("no Chromium after installing {PACKAGE}"))
}

/// Writes the laboratory's page and checks it in the browser.
pub(super) fn check(root: &Path, chromium: &Path) -> Outcome {
    let out = root.join("target/page");
    if let Err(error) = fs::create_dir_all(&out) {
        return Outcome::Failed(format!("{}: {error}", out.display()));
    }
    let page = "target/page/report.html";
    let built = cargo(root, &selection::examples(&["page"]), &[]);
    if built != Outcome::Passed {
        return built;
    }
    let writing = Command::new(built_file(root, "examples/page"))
        .current_dir(root)
        .args([RECORDS, page])
        .status();
    let written = ended("the example page", writing);
    if written != Outcome::Passed {
        return written;
    }
    let page = root.join(page);
    let arguments = [page.as_path(), chromium, &out];
    run_check(&root.join(CHECK), &arguments)
}

/// Lets web pages of other origins try to publish through a node and to empty its cache.
pub(super) fn attack(root: &Path, chromium: &Path) -> Outcome {
    let built = cargo(root, &selection::program(), &[]);
    if built != Outcome::Passed {
        return built;
    }
    let undertone = built_file(root, "undertone");
    run_check(&root.join(ATTACK), &[&undertone, chromium])
}

/// Runs a folder's `check.mjs` with its npm packages installed.
fn run_check(folder: &Path, arguments: &[&Path]) -> Outcome {
    if !is_installed(folder) {
        let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        let installed = ended(
            "npm ci",
            Command::new("npm").current_dir(folder).args(npm).status(),
        );
        if installed != Outcome::Passed {
            return installed;
        }
    }
    let mut node = Command::new("node");
    node.arg(folder.join("check.mjs")).args(arguments);
    let what = format!("{}/check.mjs", folder.display());
    ended(&what, node.status())
}

/// Returns the path of the first of these programs that is in a folder of `path`.
fn find(names: &[&str], path: &OsStr) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        let mut programs = env::split_paths(path).map(|folder| folder.join(name));
        programs.find(|program| program.is_file())
    })
}

/// Whether npm's packages are installed from the present lock file.
fn is_installed(folder: &Path) -> bool {
    let changed =
        |name: &str| -> io::Result<SystemTime> { fs::metadata(folder.join(name))?.modified() };
    // npm writes the second file at the end of an installation.
    match (
        changed("package-lock.json"),
        changed("node_modules/.package-lock.json"),
    ) {
        (Ok(wanted), Ok(installed)) => installed >= wanted,
        _ => false,
    }
}

fn ended(what: &str, result: io::Result<ExitStatus>) -> Outcome {
    match result {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("{what}: {status}")),
        Err(error) => Outcome::Failed(format!("cannot run {what}: {error}")),
    }
}

#[cfg(test)]
mod tests;
