//! Files for operators in `deploy/`: they name keys and metrics that exist, and the tools at hand accept them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use undertone_node::config::{ConfigKey, KEYS};

use crate::support::process::Node;

const PROGRAM: &str = env!("CARGO_BIN_EXE_undertone");

fn deploy(file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    root.join("deploy").join(file)
}

fn text(file: &str) -> String {
    let path = deploy(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Words of a text that begin with a prefix.
fn words(text: &str, prefix: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c));
    words
        .filter(|word| word.starts_with(prefix) && word.len() > prefix.len())
        .map(str::to_owned)
        .collect()
}

/// Starts a node with a store and no peers, which has its files in `folder`.
fn start(folder: &TempDir) -> Node {
    let mut command = undertone_node_process::command(PROGRAM);
    command.args(["node", "--json", "--listen-address=127.0.0.1"]);
    command.args(["--tcp-port=0", "--rest-port=0", "--store=true"]);
    command.arg("--data-dir").arg(folder.path());
    Node::start(&mut command, &folder.path().join("said"))
}

/// Names of all metrics of a node with a store, without the suffixes that counters and histograms have.
fn metrics() -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let answer = start(&folder).rest.ask("GET", "/metrics", "");
    let (_, page) = answer.expect("it answers");
    let helps = page.lines().filter_map(|line| line.strip_prefix("# HELP "));
    let names = helps.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn alerts_and_dashboard_ask_for_metrics_that_a_node_has() {
    let known = metrics();
    for file in ["prometheus/alerts.yml", "grafana/undertone.json"] {
        let text = text(file);
        let asked = ["undertone_", "libp2p_", "waku_"];
        let asked: BTreeSet<_> = asked
            .iter()
            .flat_map(|prefix| words(&text, prefix))
            .collect();
        assert!(asked.len() > 5, "{file} asks for {asked:?}");
        for name in asked {
            let family = name.strip_suffix("_total").unwrap_or(&name);
            assert!(known.contains(family), "{file}: no metric {name}");
        }
    }
    let dashboard: serde_json::Value =
        serde_json::from_str(&text("grafana/undertone.json")).expect("a dashboard is JSON");
    assert!(
        dashboard["panels"]
            .as_array()
            .is_some_and(|panels| panels.len() > 10)
    );
}

/// A node without peers is alive, and is not ready.
#[test]
fn probes_tell_a_node_that_is_alone_from_one_that_is_dead() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let node = start(&folder);
    let manifest = text("kubernetes/node.yaml");
    for (probe, status) in [("livenessProbe:", 200), ("readinessProbe:", 503)] {
        let (_, after) = manifest.split_once(probe).expect("the probe is there");
        let (_, after) = after.split_once("path: ").expect("it asks for a path");
        let path = after.split(',').next().expect("a first part");
        let answer = node.rest.ask("GET", path, "");
        let (said, body) = answer.expect("it answers");
        assert_eq!(said, status, "{path}: {body}");
    }
}

#[test]
fn prometheus_asks_the_nodes_of_the_compose_file() {
    let config = text("prometheus/prometheus.yml");
    let (_, after) = config.split_once("names: [").expect("names of nodes");
    let (names, _) = after.split_once(']').expect("the end of a list");
    let compose = text("docker/compose.yaml");
    let node = |name: &&str| compose.contains(&format!("\n  {name}:\n    <<: *node\n"));
    let names: Vec<_> = names.split(", ").collect();
    assert!(names.iter().all(node), "{names:?}");
    assert_eq!(compose.matches("<<: *node\n").count(), names.len());
}

#[test]
fn variables_are_those_of_configuration_keys() {
    let known: BTreeSet<_> = KEYS.iter().map(ConfigKey::variable).collect();
    for file in [
        "docker/Dockerfile",
        "docker/compose.yaml",
        "kubernetes/node.yaml",
        "systemd/undertone.service",
    ] {
        let named = words(&text(file), "UNDERTONE_");
        assert!(!named.is_empty(), "{file} sets nothing");
        for variable in named {
            assert!(known.contains(&variable), "{file}: no key has {variable}");
        }
    }
}

#[test]
fn the_units_commands_are_understood() {
    let unit = text("systemd/undertone.service");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let config = folder.path().join("node.toml");
    fs::write(&config, "tcp-port = 0\n").expect("a file");
    let line = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStartPre="));
    let line = line.expect("the configuration is checked before the start");
    let mut words = line.split_whitespace();
    // A path that is not absolute: /usr/local/bin of those who install it, /usr/bin of the Debian package.
    assert_eq!(words.next(), Some("undertone"));
    let mut command = Command::new(PROGRAM);
    for word in words {
        match word {
            "/etc/undertone/node.toml" => command.arg(&config),
            other => command.arg(other),
        };
    }
    let output = command.output().expect("the program was built");
    assert!(output.status.success(), "{output:?}");

    // systemd looks whether the programs exist, so the unit of this test names the one that was built.
    let own = unit
        .replace("=undertone ", &format!("={PROGRAM} "))
        .replace("/etc/undertone/node.toml", &config.display().to_string());
    let path = folder.path().join("undertone.service");
    fs::write(&path, own).expect("a file");
    match Command::new("systemd-analyze")
        .arg("verify")
        .arg(&path)
        .output()
    {
        Ok(verified) => {
            let said = String::from_utf8_lossy(&verified.stderr);
            assert!(verified.status.success(), "{said}");
            assert!(!said.contains("undertone.service:"), "{said}");
        }
        Err(error) => eprintln!("note: the unit was not verified: systemd-analyze: {error}"),
    }
}
