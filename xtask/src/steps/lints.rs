//! Steps that compile nothing to run: warnings of rustc and clippy, and the documentation.

use std::fs;
use std::io;
use std::path::Path;

use super::{Outcome, cargo, wasm};

#[cfg(test)]
mod tests;

/// Package whose features the second check leaves out.
const PROGRAM: &str = "undertone";

/// Arguments of clippy, as `cargo clippy` hands them to its driver.
const CLIPPY_ARGS: (&str, &str) = (
    "CLIPPY_ARGS",
    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// Variable of the program through which cargo compiles the packages of the workspace.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Checks all targets, then the program without its laboratory: an operator's. All other packages keep their default
/// features in the second check, and are not checked anew for it.
pub(super) fn clippy(root: &Path) -> Outcome {
    let others = match defaults_of_others(root) {
        Ok(others) => others,
        Err(error) => return Outcome::Failed(format!("{}: {error}", root.display())),
    };
    match check(root, &[]) {
        Outcome::Passed => check(root, &["--no-default-features", "--features", &others]),
        failed => failed,
    }
}

fn check(root: &Path, features: &[&str]) -> Outcome {
    let mut args = vec!["clippy", "--workspace", "--all-targets"];
    args.extend(features);
    args.extend(["--", "-D", "warnings"]);
    cargo(root, &args, &[])
}

/// Builds the documentation. The libraries of the workspace are read through clippy's driver, as the step `clippy` did: it
/// has left what this one needs of them.
pub(super) fn doc(root: &Path) -> Outcome {
    // With examples, cargo selects the features that all other steps select, and checks no dependency again.
    let args = [
        "doc",
        "--workspace",
        "--no-deps",
        "--lib",
        "--bins",
        "--examples",
    ];
    let mut variables = vec![("RUSTDOCFLAGS", "-D warnings")];
    let driver = wasm::sysroot(root).map(|sysroot| sysroot.join("bin/clippy-driver"));
    let driver = driver.filter(|driver| driver.is_file());
    let driver = driver.as_ref().and_then(|driver| driver.to_str());
    if let Some(driver) = driver {
        variables.extend([(WRAPPER, driver), CLIPPY_ARGS]);
    }
    cargo(root, &args, &variables)
}

/// Returns the default features of all packages in `crates` but the program's, as an argument of `--features`.
fn defaults_of_others(root: &Path) -> io::Result<String> {
    let mut features = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?;
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml"))?;
        if let Some(package) = package_with_defaults(&manifest)
            && package != PROGRAM
        {
            features.push(format!("{package}/default"));
        }
    }
    features.sort_unstable();
    Ok(features.join(","))
}

/// Returns the name in a manifest if its package has default features.
fn package_with_defaults(manifest: &str) -> Option<&str> {
    let has_defaults = manifest.lines().any(|line| line.starts_with("default = "));
    let name = manifest
        .lines()
        .find_map(|line| line.strip_prefix("name = \""))?;
    has_defaults.then(|| name.trim_end_matches('"'))
}
