//! Step that checks that the libraries compile for browsers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, cargo};

const TARGET: &str = "wasm32-unknown-unknown";

/// Packages without clock, socket and thread.
const PACKAGES: [&str; 9] = [
    "undertone-wire",
    "undertone-gossip",
    "undertone-message",
    "undertone-link",
    "undertone-rln",
    "undertone-relay",
    "undertone-sim",
    "undertone-services",
    "undertone-payload",
];

/// Checks the libraries for a target without an operating system, without the features that need one.
pub(super) fn run(root: &Path) -> Outcome {
    match standard_library(root) {
        Some(folder) if folder.is_dir() => {}
        _ => {
            let remedy = format!("`rustup target add {TARGET}`");
            return Outcome::Skipped(format!("no standard library for {TARGET}: {remedy}"));
        }
    }
    let mut args = [
        "check",
        "--lib",
        "--no-default-features",
        "--target",
        TARGET,
    ]
    .to_vec();
    args.extend(PACKAGES.iter().flat_map(|package| ["--package", *package]));
    cargo(root, &args, &[])
}

/// Folder in which the compiler looks for the target's standard library.
fn standard_library(root: &Path) -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let mut command = Command::new(rustc);
    command.current_dir(root).args(["--print", "sysroot"]);
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let libraries = Path::new(sysroot.trim_end()).join("lib/rustlib");
    Some(libraries.join(TARGET).join("lib"))
}
