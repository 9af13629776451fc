//! Which tests a step runs. Cargo compiles a dependency anew for each set of packages that enables other
//! features of it; so every step selects the whole workspace, and tells its tests apart by their names.

use std::fs;
use std::io;
use std::path::Path;

/// Packages whose integration tests have a step of their own.
const OWN_STEP: [&str; 3] = ["crates/contracts", "crates/testbed", "interop"];

/// The arguments of cargo for integration tests of these names.
pub(super) fn named(names: &[&str]) -> Vec<String> {
    let mut args = workspace("test");
    args.extend(names.iter().map(|name| format!("--test={name}")));
    args
}

/// The arguments of cargo for all unit tests, and the integration tests that have no step of their own.
///
/// # Errors
/// When a folder of the workspace cannot be read.
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
    Ok(args)
}

/// The arguments of cargo for the examples in the documentation.
pub(super) fn doc_tests() -> Vec<String> {
    let mut args = workspace("test");
    args.push("--doc".to_owned());
    args
}

/// The arguments of cargo that build an example.
pub(super) fn example(name: &str) -> Vec<String> {
    let mut args = workspace("build");
    args.push(format!("--example={name}"));
    args
}

/// The arguments of cargo that build the program `undertone`. Building it for its tests selects the features
/// of dependencies that all other steps have.
pub(super) fn program() -> Vec<String> {
    let mut args = named(&["node_cli"]);
    args.push("--no-run".to_owned());
    args
}

fn workspace(command: &str) -> Vec<String> {
    vec![command.to_owned(), "--workspace".to_owned()]
}

/// Names of the integration tests in a package's folder: `name.rs` or `name/main.rs`.
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
