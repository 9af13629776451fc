//! Selection of the tests that a step runs. Cargo recompiles a dependency for each set of packages that
//! enables other features of it, so every step selects the whole workspace, and selects tests by name.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

use super::driver;

/// Packages whose integration tests have their own steps.
const OWN_STEP: [&str; 5] = [
    "crates/archive",
    "crates/bindings",
    "crates/contracts",
    "crates/testbed",
    "interop",
];

/// Setting of cargo that compiles the driver for real networks, and each of its test programs, as one unit. Of the usual
/// sixteen, each compiles again the generic code of others that it uses.
const ONE_UNIT: &str = "profile.dev.package.undertone-node.codegen-units=1";

/// Program with most integration tests of a package, a module for each subject.
pub(super) const IT: &str = "it";

/// Module of integration tests with a step of its own, in packages whose others have none.
const OWN_TESTS: &str = "store_faults::";

/// Returns cargo's arguments for compiling all targets of all packages.
pub(super) fn everything() -> Vec<String> {
    let mut args = workspace("test");
    args.extend(["--no-run", "--all-targets"].map(str::to_owned));
    args
}

/// Returns cargo's arguments for compiling all libraries and programs, and their unit tests, with these features only. Without
/// the tests, cargo would select other features of dependencies, and compile those again.
pub(super) fn without_defaults(features: &str) -> Vec<String> {
    let mut args = workspace("test");
    let options = ["--no-run", "--lib", "--bins", "--no-default-features"];
    args.extend(options.map(str::to_owned));
    args.extend(["--features", features].map(str::to_owned));
    args
}

/// Returns cargo's arguments for the integration tests of these names.
pub(super) fn named(names: &[&str]) -> Vec<String> {
    let mut args = workspace("test");
    args.extend(names.iter().map(|name| format!("--test={name}")));
    args
}

/// Returns cargo's arguments for these modules of [`IT`], of whichever package.
pub(super) fn modules(names: &[&str]) -> Vec<String> {
    let mut args = named(&[IT]);
    args.push("--".to_owned());
    args.extend(names.iter().map(ToString::to_string));
    args
}

/// Returns cargo's arguments for all unit tests, and for the integration tests without their own step.
///
/// # Errors
/// An I/O error if a folder of the workspace cannot be read.
pub(super) fn unit(root: &Path) -> io::Result<Vec<String>> {
    let mut args = workspace("test");
    args.extend(["--no-fail-fast", "--lib", "--bins"].map(str::to_owned));
    let mut packages: Vec<String> = names_in(&root.join("crates"))?
        .into_iter()
        .map(|name| format!("crates/{name}"))
        .collect();
    packages.extend(["interop", "xtask"].map(str::to_owned));
    packages.retain(|package| !OWN_STEP.contains(&package.as_str()));
    let mut names = Vec::new();
    for package in packages {
        names.extend(integration_tests(&root.join(package).join("tests"))?);
    }
    names.sort_unstable();
    names.dedup();
    args.extend(names.iter().map(|name| format!("--test={name}")));
    args.extend(["--", "--skip", OWN_TESTS].map(str::to_owned));
    Ok(args)
}

/// Returns cargo's arguments for the examples in the documentation.
pub(super) fn doc_tests() -> Vec<String> {
    let mut args = workspace("test");
    args.push("--doc".to_owned());
    args
}

/// Returns cargo's arguments for building examples.
pub(super) fn examples(names: &[&str]) -> Vec<String> {
    let mut args = workspace("build");
    args.extend(names.iter().map(|name| format!("--example={name}")));
    args
}

/// Returns cargo's arguments for building a program with a feature, in a profile of which nothing else is compiled.
pub(super) fn program_with(name: &str, feature: &str, profile: &str) -> Vec<String> {
    let mut args = workspace("build");
    let options = ["--profile", profile, "--features", feature, "--bin", name];
    args.extend(options.map(str::to_owned));
    args
}

/// Returns cargo's arguments for building the program `undertone`. Building it for its tests selects the
/// same features of dependencies as in all other steps.
pub(super) fn program() -> Vec<String> {
    let mut args = named(&["guides"]);
    args.push("--no-run".to_owned());
    args
}

/// Returns cargo's arguments for building the program `undertone` with a feature beyond its default ones. For its tests as in
/// [`program`]: built alone, it would have 165 of 734 units compiled again, for features that only tests ask for.
pub(super) fn program_and(feature: &str) -> Vec<String> {
    let mut args = program();
    args.extend(["--features", feature].map(str::to_owned));
    args
}

fn workspace(command: &str) -> Vec<String> {
    let incremental = env::var("CARGO_INCREMENTAL").ok();
    let mut args = vec![command.to_owned(), "--workspace".to_owned()];
    args.extend(units(incremental.as_deref()).map(str::to_owned));
    args.extend(driver::options());
    args
}

/// Returns cargo's arguments for the units of packages, given the value of `CARGO_INCREMENTAL`: a package in one unit is
/// compiled with less work as a whole, but not in part after a change.
fn units(incremental: Option<&str>) -> impl Iterator<Item = &'static str> {
    let once = incremental == Some("0");
    once.then_some(["--config", ONE_UNIT]).into_iter().flatten()
}

/// Returns the names of the integration tests in a package's folder: `name.rs` or `name/main.rs`.
fn integration_tests(folder: &Path) -> io::Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let names = names_in(folder)?.into_iter();
    let tests = names.filter_map(|name| match name.strip_suffix(".rs") {
        Some(stem) => Some(stem.to_owned()),
        None => folder.join(&name).join("main.rs").is_file().then_some(name),
    });
    Ok(tests.collect())
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
