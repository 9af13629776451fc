//! Passes the commit of the build to the program; "unknown" outside of its repository.

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

/// Returns the commit of the repository that contains this package. A copy of the sources inside another
/// repository must not take that repository's commit.
fn from_git() -> Option<String> {
    // Read at run time: several checkouts may share the compiled build script.
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
    // Git appends a line to this file with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        let log = root.join(log);
        if log.exists() {
            println!("cargo::rerun-if-changed={}", log.display());
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
