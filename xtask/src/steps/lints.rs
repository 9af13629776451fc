//! Step that fails at warnings of rustc and clippy. It compiles what all later steps run.

use std::fs;
use std::io;
use std::path::Path;

use super::{Outcome, cargo, driver, selection};

#[cfg(test)]
mod tests;

/// Package whose features the second compilation leaves out.
const PROGRAM: &str = "undertone";

/// Compiles all targets through clippy's driver, then the program without its laboratory: an operator's. All other packages
/// keep their default features in the second compilation, and are not compiled anew for it.
pub(super) fn clippy(root: &Path) -> Outcome {
    if driver::path().is_none() {
        return Outcome::Failed("no clippy: rustup component add clippy".to_owned());
    }
    let others = match defaults_of_others(root) {
        Ok(others) => others,
        Err(error) => return Outcome::Failed(format!("{}: {error}", root.display())),
    };
    match cargo(root, &selection::everything(), &[]) {
        Outcome::Passed => cargo(root, &selection::without_defaults(&others), &[]),
        failed => failed,
    }
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
