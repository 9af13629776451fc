//! Schemathesis against the API of real nodes: requests made from the description, valid and not, and answers
//! compared with it; with a neighbour that serves, without any, with the token and without. Run by
//! `cargo xtask test --only openapi`, because it needs Python and PyPI.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use undertone_node::assemble::{Assembled, assemble};

use crate::support::{Place, metrics_until};

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

/// Token of the node that asks for one.
const OWN_TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Operations that have to succeed at least once where a neighbour serves: otherwise only refusals were compared.
const SUCCEED: [(&str, &str); 9] = [
    ("POST", "/filter/v2/subscriptions"),
    ("PUT", "/filter/v2/subscriptions"),
    ("DELETE", "/filter/v2/subscriptions"),
    ("DELETE", "/filter/v2/subscriptions/all"),
    ("GET", "/filter/v2/messages/"),
    ("POST", "/lightpush/v3/message"),
    ("POST", "/lightpush/v1/message"),
    ("GET", "/store/v3/messages"),
    ("GET", "/store/v1/messages"),
];

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_as_described() {
    if std::env::var(SWITCH).is_ok_and(|value| value == "1") {
        served_by_a_neighbour().await;
        without_anybody().await;
        with_a_token().await;
    } else {
        println!("not run: set {SWITCH}=1, or use `cargo xtask test --only openapi`");
    }
}

/// Node with the admin's paths, and with more flags; it asks for a token if these say so.
async fn start(place: &Place, peers: &[String], more: &[(&str, &str)]) -> Assembled {
    let flags = [
        ("rln", "false"),
        ("rest-admin", "true"),
        ("max-connections", "10"),
    ];
    let mut flags = [&flags[..], more].concat();
    if more.iter().all(|(key, _)| *key != "rest-auth") {
        flags.push(("rest-auth", "none"));
    }
    assemble(&place.config(peers, &flags)).await.unwrap()
}

/// All paths of a node that serves nothing itself, beside one that relays, stores, filters and pushes.
async fn served_by_a_neighbour() {
    let (serving, asking) = (Place::new(), Place::new());
    let without_limit = "store:0/1s;lightpush:0/1s;filter:0/1s";
    let flags = [("store", "true"), ("rate-limit", without_limit)];
    let neighbour = start(&serving, &[], &flags).await;
    let address = neighbour.node.addresses[0].to_string();
    let flags = [
        ("lightpush", "false"),
        ("filter", "false"),
        ("storenode", address.as_str()),
        ("filternode", &address),
        ("lightpushnode", &address),
    ];
    let node = start(&asking, std::slice::from_ref(&address), &flags).await;
    for one in [&node, &neighbour] {
        // Messages of every shard find a peer.
        metrics_until(one, |page| {
            let mesh = page
                .iter()
                .filter(|(name, _)| name.starts_with("undertone_mesh_peers"));
            let mesh: Vec<_> = mesh.map(|(_, peers)| *peers).collect();
            mesh.len() == 8 && mesh.iter().all(|peers| *peers >= 1.0)
        })
        .await;
    }
    let answers = Generated::new(&node).run().await;
    for (method, path) in SUCCEED {
        let statuses = answers.statuses(method, path);
        assert!(statuses.contains_key(&200), "{method} {path}: {statuses:?}");
    }
    node.stop().await;
    neighbour.stop().await;
}

/// Paths that ask other nodes, at a node that has an archive and nobody to ask.
async fn without_anybody() {
    let place = Place::new();
    let flags = [("store", "true"), ("lightpush", "false")];
    let node = start(&place, &[], &flags).await;
    let answers = Generated::new(&node)
        .args(["--max-time", "20"])
        .args(["--include-path-regex", "^/(filter|lightpush|store)/"])
        .run()
        .await;
    for path in ["/filter/v2/subscriptions", "/lightpush/v3/message"] {
        let statuses = answers.statuses("POST", path);
        let is_refused = statuses.contains_key(&503) && !statuses.contains_key(&200);
        assert!(is_refused, "{path}: {statuses:?}");
    }
    let statuses = answers.statuses("GET", "/store/v3/messages");
    assert!(statuses.contains_key(&200), "{statuses:?}");
    node.stop().await;
}

/// All paths of a node that asks for its token everywhere, with the token and without.
async fn with_a_token() {
    let place = Place::new();
    let flags = [
        ("rest-auth", "all"),
        ("rest-token", OWN_TOKEN),
        ("store", "true"),
    ];
    let node = start(&place, &[], &flags).await;
    let header = format!("Authorization: Bearer {OWN_TOKEN}");
    let answers = Generated::new(&node)
        .args(["--max-time", "30", "--header", &header])
        .run()
        .await;
    for path in ["/info", "/relay/v1/messages/", "/admin/v1/peers"] {
        let statuses = answers.statuses("GET", path);
        assert!(
            statuses.keys().any(|status| *status != 401),
            "{path}: {statuses:?}"
        );
    }
    let answers = Generated::new(&node)
        .args(["--max-time", "10", "--phases", "examples,coverage,fuzzing"])
        .describe(&header)
        .await
        .run()
        .await;
    for path in [
        "/info",
        "/relay/v1/messages/",
        "/admin/v1/peers",
        "/store/v3/messages",
    ] {
        let statuses = answers.statuses("GET", path);
        let seen: Vec<_> = statuses.keys().copied().collect();
        assert_eq!(seen, [401], "{path}: {statuses:?}");
    }
    let statuses = answers.statuses("GET", "/health");
    assert!(!statuses.contains_key(&401), "{statuses:?}");
    node.stop().await;
}

/// Run of generated requests against a node.
struct Generated {
    origin: String,
    /// Path or address of the description.
    description: String,
    args: Vec<String>,
    folder: tempfile::TempDir,
}

impl Generated {
    fn new(node: &Assembled) -> Self {
        let origin = format!("http://{}", node.rest.unwrap());
        Self {
            description: format!("{origin}/openapi.json"),
            origin,
            args: Vec::new(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Takes the description with a header that the requests do not have.
    async fn describe(mut self, header: &str) -> Self {
        let (name, value) = header.split_once(": ").unwrap();
        let (name, value) = (name.to_owned(), value.to_owned());
        let url = self.description;
        let reading = tokio::task::spawn_blocking(move || {
            let answer = ureq::get(&url).header(name, value).call().unwrap();
            answer.into_body().read_to_string().unwrap()
        });
        let path = self.folder.path().join("openapi.json");
        std::fs::write(&path, reading.await.unwrap()).unwrap();
        self.description = path.display().to_string();
        let origin = self.origin.clone();
        self.args(["--url", &origin])
    }

    /// Sends the requests, and compares the answers with the description.
    async fn run(self) -> Answers {
        let seed = std::env::var(SEED).unwrap_or_else(|_| "1".into());
        println!("{SEED}={seed} {}", self.args.join(" "));
        let log = self.folder.path().join("answers.har");
        let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi.toml");
        let (args, description, report) = (self.args, self.description, log.clone());
        let outcome = tokio::task::spawn_blocking(move || {
            Command::new(schemathesis())
                .current_dir(env!("CARGO_TARGET_TMPDIR"))
                .arg("--config-file")
                .arg(settings)
                .args([
                    "run",
                    "--seed",
                    &seed,
                    "--report",
                    "har",
                    "--report-har-path",
                ])
                .arg(report)
                .args(args)
                .arg(description)
                .status()
        });
        let status = outcome.await.unwrap().unwrap();
        assert!(
            status.success(),
            "see the findings above; {SEED} replays them"
        );
        Answers::read(&log, &self.origin)
    }
}

/// Answers of a run: the number of each status, by method and path.
#[derive(Default)]
struct Answers(BTreeMap<(String, String), BTreeMap<u64, usize>>);

impl Answers {
    fn read(log: &Path, origin: &str) -> Self {
        let log = std::fs::read(log).unwrap();
        let log: Value = serde_json::from_slice(&log).unwrap();
        let mut answers = Self::default();
        for entry in log["log"]["entries"].as_array().unwrap() {
            let (request, status) = (&entry["request"], &entry["response"]["status"]);
            let method = request["method"].as_str().unwrap().to_owned();
            let url = request["url"].as_str().unwrap();
            let path = url.strip_prefix(origin).unwrap();
            let path = path.split('?').next().unwrap_or_default().to_owned();
            let statuses = answers.0.entry((method, path)).or_default();
            *statuses.entry(status.as_u64().unwrap()).or_default() += 1;
        }
        answers
    }

    /// Statuses of the answers to requests with a path, or if it ends in `/`, with one that begins so.
    fn statuses(&self, method: &str, path: &str) -> BTreeMap<u64, usize> {
        let is_meant =
            |asked: &str| asked == path || path.ends_with('/') && asked.starts_with(path);
        let meant = self
            .0
            .iter()
            .filter(|((m, p), _)| m == method && is_meant(p));
        let mut all = BTreeMap::new();
        for (status, count) in meant.flat_map(|(_, statuses)| statuses) {
            *all.entry(*status).or_default() += count;
        }
        all
    }
}
