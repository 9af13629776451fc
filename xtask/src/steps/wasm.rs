//! Step that checks that the libraries compile for browsers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, cargo, driver};

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

/// Checks the libraries for a target without an operating system, without the features that need one. Installs the
/// target's standard library if it is missing and rustup is there.
pub(super) fn run(root: &Path) -> Outcome {
    if !has_standard_library() {
        let installed = Command::new("rustup")
            .current_dir(root)
            .args(["target", "add", TARGET])
            .status();
        let reason = match installed {
            Ok(status) if status.success() => {
                "rustup installed it for another toolchain".to_owned()
            }
            Ok(status) => format!("rustup could not install it: {status}"),
            Err(error) => format!("cannot run rustup: {error}"),
        };
        if !has_standard_library() {
            return Outcome::Skipped(format!("no standard library for {TARGET}; {reason}"));
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

fn has_standard_library() -> bool {
    standard_library().is_some_and(|folder| folder.is_dir())
}

/// Folder in which the compiler looks for the target's standard library.
fn standard_library() -> Option<PathBuf> {
    let libraries = driver::sysroot()?.join("lib/rustlib");
    Some(libraries.join(TARGET).join("lib"))
}
