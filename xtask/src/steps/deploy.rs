//! Step that lets the tools of others read the files in `deploy/`: Prometheus, and linters of images, compose files and manifests.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Outcome, apt, target_folder, version_of};

mod expressions;
#[cfg(test)]
mod tests;
mod tools;

/// Debian's package with `promtool`, the checker of Prometheus.
const PROMETHEUS: &str = "prometheus";
const PROMTOOL: &str = "promtool";

/// Folder with the files of Prometheus: its configuration, alerts and their tests.
const RULES: &str = "deploy/prometheus";
const DASHBOARD: &str = "deploy/grafana/undertone.json";
const DOCKERFILE: &str = "deploy/docker/Dockerfile";
const COMPOSE: &str = "deploy/docker/compose.yaml";
/// Exceptions of the linter of compose files, each with its reason.
const COMPOSE_RULES: &str = "deploy/docker/compose-lint.yaml";
const MANIFESTS: &str = "deploy/kubernetes";

/// Part of the step: what it reads, and how.
type LintedPart = (&'static str, fn(&Path, &Path) -> Outcome);

const PARTS: [LintedPart; 4] = [
    ("alerts and dashboard", prometheus),
    ("Dockerfile", dockerfile),
    ("compose file", compose),
    ("manifests", kubernetes),
];

/// Runs all parts; the step counts as skipped if the tool of one cannot be had.
pub(super) fn run(root: &Path) -> Outcome {
    let target = target_folder(root);
    let folder = target.join("deploy");
    if let Err(error) = fs::create_dir_all(&folder) {
        return Outcome::Failed(format!("{}: {error}", folder.display()));
    }
    let outcomes = PARTS.map(|(what, part)| {
        eprintln!("{what}");
        (what, part(root, &folder))
    });
    together(outcomes)
}

/// Outcome of the step: a failure of one part, then what could not be checked.
fn together(outcomes: impl IntoIterator<Item = (&'static str, Outcome)>) -> Outcome {
    let (mut failed, mut unchecked) = (Vec::new(), Vec::new());
    for (what, outcome) in outcomes {
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => failed.push(format!("{what}: {reason}")),
            Outcome::PassedBut(reason) | Outcome::Skipped(reason) => {
                unchecked.push(format!("{what}: {reason}"));
            }
        }
    }
    if !failed.is_empty() {
        return Outcome::Failed(failed.join("; "));
    }
    if unchecked.is_empty() {
        return Outcome::Passed;
    }
    Outcome::Skipped(unchecked.join("; "))
}

/// Checks configuration and alerts, evaluates the alerts on the series of their tests, and parses what the dashboard asks for.
fn prometheus(root: &Path, folder: &Path) -> Outcome {
    if let Err(reason) = promtool() {
        return Outcome::Skipped(reason);
    }
    let dashboard = match fs::read_to_string(root.join(DASHBOARD)) {
        Ok(text) => text,
        Err(error) => return Outcome::Failed(format!("{DASHBOARD}: {error}")),
    };
    let asked = expressions::of_dashboard(&dashboard);
    if asked.is_empty() {
        return Outcome::Failed(format!("{DASHBOARD} asks for nothing"));
    }
    let rules = folder.join("dashboard.yml");
    if let Err(error) = fs::write(&rules, expressions::as_rules(&asked)) {
        return Outcome::Failed(format!("{}: {error}", rules.display()));
    }
    let rules = rules.to_string_lossy();
    let [config, alerts, tests] =
        ["prometheus.yml", "alerts.yml", "alerts_test.yml"].map(|file| format!("{RULES}/{file}"));
    let checks: [&[&str]; 4] = [
        &["check", "config", &config],
        &["check", "rules", "--lint=all", "--lint-fatal", &alerts],
        &["test", "rules", &tests],
        &["check", "rules", &rules],
    ];
    for check in checks {
        match tools::ended(root, Path::new(PROMTOOL), check) {
            Outcome::Passed => {}
            failed => return failed,
        }
    }
    Outcome::Passed
}

/// Makes sure that `promtool` can be run.
fn promtool() -> Result<(), String> {
    let is_there = || {
        let output = Command::new(PROMTOOL).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    if is_there() {
        return Ok(());
    }
    apt::install(PROMETHEUS).map_err(|reason| {
        format!("no {PROMTOOL} ({reason}): install the package {PROMETHEUS}, or put it on the PATH")
    })?;
    if is_there() {
        return Ok(());
    }
    Err(format!("no {PROMTOOL} after installing {PROMETHEUS}"))
}

fn dockerfile(root: &Path, folder: &Path) -> Outcome {
    match tools::of_python(folder, &tools::HADOLINT) {
        Ok(hadolint) => tools::ended(root, &hadolint, &["--no-color", DOCKERFILE]),
        Err(reason) => Outcome::Skipped(reason),
    }
}

/// Checks the compose file against the schema of compose, and for what makes containers unsafe.
fn compose(root: &Path, folder: &Path) -> Outcome {
    let schema = match tools::of_npm(folder, &tools::DCLINT) {
        // Images that are built are named all the same, with their version.
        Ok(dclint) => tools::ended(
            root,
            &dclint,
            &[COMPOSE, "--quiet", "--disable-rule", "no-build-and-image"],
        ),
        Err(reason) => return Outcome::Skipped(reason),
    };
    if schema != Outcome::Passed {
        return schema;
    }
    let args = [
        "check",
        "--quiet",
        "--strict-config",
        "--fail-on",
        "low",
        "--config",
        COMPOSE_RULES,
        COMPOSE,
    ];
    match tools::of_python(folder, &tools::COMPOSE_LINT) {
        Ok(lint) => tools::ended(root, &lint, &args),
        Err(reason) => Outcome::Skipped(reason),
    }
}

/// Checks the manifests for what their cluster would refuse or regret.
fn kubernetes(root: &Path, folder: &Path) -> Outcome {
    let manifests = match manifests(&root.join(MANIFESTS)) {
        Ok(manifests) => manifests,
        Err(error) => return Outcome::Failed(format!("{MANIFESTS}: {error}")),
    };
    let score = match tools::of_go(folder, &tools::KUBE_SCORE) {
        Ok(score) => score,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let mut args = vec!["score", "--output-format=ci", "--exit-one-on-warning"];
    args.extend(manifests.iter().map(String::as_str));
    tools::ended(root, &score, &args)
}

/// Files with manifests, without the list that kustomize reads.
fn manifests(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut manifests = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "kustomization.yaml" {
            manifests.push(format!("{MANIFESTS}/{name}"));
        }
    }
    manifests.sort_unstable();
    Ok(manifests)
}
