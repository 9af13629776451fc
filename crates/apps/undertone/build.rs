//! Tells the program which commit it was built from; "unknown" outside of its repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=UNDERTONE_COMMIT");
    let commit = std::env::var("UNDERTONE_COMMIT")
        .ok()
        .or_else(from_git)
        .unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=UNDERTONE_COMMIT={commit}");
}

/// The commit of the repository that this package is in. A copy of the sources inside of another
/// repository must not take that one's.
fn from_git() -> Option<String> {
    // Asked when it runs: several checkouts may share what was built of this script.
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("../../..");
    if !root.join(".git").exists() {
        return None;
    }
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(&root)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    // A line is added to this file with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        let log = root.join(log);
        if log.exists() {
            println!("cargo::rerun-if-changed={}", log.display());
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
