//! Schemathesis against the API of a real node: requests made from the description, valid and not, and answers
//! compared with it. Run by `cargo xtask test --only openapi`, because it needs Python and PyPI.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use undertone_node::assemble::assemble;
use undertone_node::config::{NodeConfig, Sources};

/// Set to 1 to run the test.
const SWITCH: &str = "UNDERTONE_OPENAPI_TEST";

/// Version of Schemathesis on PyPI.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Seed of the generated requests, printed so that a failure can be replayed with another one too.
const SEED: &str = "UNDERTONE_OPENAPI_SEED";

/// Program of a virtual environment of this test's own; it is made when it is missing.
fn schemathesis() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let program = home.join("bin").join("schemathesis");
    let marker = home.join(SCHEMATHESIS);
    if !marker.exists() {
        run(Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&home));
        let pip = home.join("bin").join("pip");
        run(Command::new(pip).args(["install", "--quiet", SCHEMATHESIS]));
        std::fs::write(marker, "").unwrap();
    }
    program
}

fn run(command: &mut Command) {
    let status = command.status();
    let works = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    assert!(
        works,
        "{command:?}: {status:?}; this test needs python3 with venv and pip, and access to PyPI"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_as_described() {
    if std::env::var(SWITCH).is_ok_and(|value| value == "1") {
        check().await;
    } else {
        println!("not run: set {SWITCH}=1, or use `cargo xtask test --only openapi`");
    }
}

async fn check() {
    let folder = tempfile::tempdir().unwrap();
    let folder_name = folder.path().display().to_string();
    let flags = [
        ("network", "local"),
        ("rln", "false"),
        ("shards", "0"),
        ("store", "true"),
        ("data-dir", &folder_name),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest-port", "0"),
        ("rest-admin", "true"),
        ("max-connections", "10"),
    ];
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let config = NodeConfig::load(&Sources {
        flags: flags.into_iter().map(owned).collect(),
        ..Sources::default()
    });
    let node = assemble(&config.unwrap()).await.unwrap();
    let address = node.rest.unwrap();
    let seed = std::env::var(SEED).unwrap_or_else(|_| "1".into());
    println!("{SEED}={seed}");
    let outcome = tokio::task::spawn_blocking(move || {
        let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi.toml");
        Command::new(schemathesis())
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .arg("--config-file")
            .arg(settings)
            .args(["run", "--seed", &seed])
            .arg(format!("http://{address}/openapi.json"))
            .status()
    });
    let status = outcome.await.unwrap().unwrap();
    node.stop().await;
    assert!(
        status.success(),
        "see the findings above; {SEED} replays them"
    );
}
