//! Schemathesis against the API of a real node: requests made from the description, valid and not, and answers
//! compared with it. Run by `cargo xtask test --only openapi`, because it needs Python and PyPI.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use undertone_message::{NetworkPreset, PubsubTopic, Shard};
use undertone_node::driver::{ConnectionLimits, NodeOptions, start};
use undertone_node::rest::{Access, RestConfig, ServeLimits, router, serve};
use undertone_relay::RelayConfig;

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
    let preset = NetworkPreset::by_name("local").unwrap();
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    relay.publish_unjoined = true;
    let topic: PubsubTopic = Shard {
        cluster: preset.cluster_id,
        index: 0,
    }
    .into();
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
        .relay(relay)
        .topics([topic.clone()])
        .connections(ConnectionLimits::with_total(10));
    let node = start(options).await.unwrap();
    let config = RestConfig {
        network: preset,
        autosharding: true,
        subscriptions: vec![topic],
        content_topics: Vec::new(),
        log_level: Some(|_| true),
        access: Access::default(),
        relay: true,
        admin: true,
        relay_cache_capacity: 50,
        clock_ahead_ns: 0,
        version: "undertone-test".into(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    let router = router(node.handle.clone(), config);
    let server = tokio::spawn(serve(listener, router, ServeLimits::default(), stopped));
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
    drop(stop);
    server.await.unwrap().unwrap();
    node.stop().await;
    assert!(
        status.success(),
        "see the findings above; {SEED} replays them"
    );
}
