//! `undertone migrate nwaku`: a script with flags, its variables, a keystore and an archive in the reference node's
//! layout become a folder that `undertone node` accepts.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use serde_json::Value;
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::{WakuMessage, message_hash};
use undertone_rln::{CounterError, Epoch, IdentityFile, MessageIdCounter, WallClock};
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};

use crate::support::place::Place;

const TOPIC: &str = "/waku/2/rs/1/0";

/// A script as deployments have it: variables, continued lines, and a flag of each fate.
const SCRIPT: &str = r#"#!/bin/sh
exec /usr/bin/wakunode \
  --preset=twn \
  --relay=true \
  --nodekey=${NODEKEY} \
  --rest=true --rest-port=18645 --rest-admin=true \
  --store=true --store-message-db-url="sqlite:///data/store.sqlite3" \
  --store-message-retention-policy=time:86400 \
  --rln-relay-eth-client-address="${RPC:-http://127.0.0.1:8545}" \
  --dns4-domain-name="${DOMAIN}" \
  --rendezvous=true \
  --mix=true \
  --colour=blue
"#;

/// Secret key of secp256k1 that nobody uses.
const NODE_KEY: &str = "0101010101010101010101010101010101010101010101010101010101010101";

const EVERYTHING: &str = "migrate nwaku --flags run_node.sh --env .env --keystore k --keystore-password-file pw \
                          --old-node-is-stopped --archive store.sqlite3 --output new --json";

fn message(number: i64) -> WakuMessage {
    WakuMessage {
        timestamp: Some(1_700_000_000_000_000_000 + number),
        ..WakuMessage::new(
            format!("message {number}").into_bytes(),
            "/app/1/chat/proto",
        )
    }
}

/// Archive with the tables that schema version 10 of the reference node has (repository
/// logos-messaging/logos-delivery, folder migrations/message_store, commit 69fbffa3). The last row's hash is not that of
/// its content, as the eighth migration leaves them, and its version is no number.
fn archive(place: &Place, messages: i64) {
    let connection = Connection::open(place.path("store.sqlite3")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE message (pubsubTopic BLOB NOT NULL, contentTopic BLOB NOT NULL, payload BLOB,
               version INTEGER NOT NULL, timestamp INTEGER NOT NULL, messageHash BLOB PRIMARY KEY, meta BLOB)
               WITHOUT ROWID;
             PRAGMA user_version = 10;",
        )
        .unwrap();
    let insert = "INSERT INTO message VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6)";
    for number in 0..messages {
        let message = message(number);
        let hash = message_hash(TOPIC, &message);
        let row = (
            TOPIC.as_bytes(),
            message.content_topic.as_bytes(),
            &message.payload[..],
            message.timestamp,
            &hash.0[..],
            &[][..],
        );
        connection.execute(insert, row).unwrap();
    }
    let bad =
        "INSERT INTO message VALUES (x'00', x'00', x'00', 'one', 1700000000000000000, x'77', x'')";
    connection.execute(bad, []).unwrap();
}

/// Script, variables, keystore with an identity, and archive.
fn deployment() -> Place {
    let place = Place::new();
    fs::write(place.path("run_node.sh"), SCRIPT).unwrap();
    let variables = format!("NODEKEY={NODE_KEY}\nDOMAIN=node.example.org\n");
    fs::write(place.path(".env"), variables).unwrap();
    fs::write(place.path("pw"), "a password\n").unwrap();
    place.run("rln keygen --out alice").succeeded();
    place
        .run(
            "rln keystore import --keystore k --identity alice --chain-id 59141 --contract \
             0xB9cd878C90E49F797B4431fBF4fb333108CB90e6 --index 7 --limit 100 --password-file pw --json",
        )
        .json(0);
    archive(&place, 250);
    place
}

fn outcome<'a>(report: &'a Value, flag: &str) -> &'a str {
    let lines = report["flags"].as_array().unwrap();
    let line = lines.iter().find(|line| line["flag"] == flag);
    line.unwrap_or_else(|| panic!("{flag}: {report}"))["outcome"]
        .as_str()
        .unwrap()
}

#[test]
fn a_deployment_moves_with_its_keys_and_history_and_is_not_changed() {
    let place = deployment();
    let sources = ["run_node.sh", ".env", "k", "store.sqlite3"];
    let before = sources.map(|name| fs::read(place.path(name)).unwrap());
    let report = place.run(EVERYTHING).json(0);
    assert_eq!(outcome(&report, "rest-port"), "kept");
    assert_eq!(outcome(&report, "dns4-domain-name"), "kept");
    assert_eq!(outcome(&report, "rendezvous"), "kept");
    assert_eq!(outcome(&report, "mix"), "no-counterpart");
    assert_eq!(outcome(&report, "colour"), "unknown");
    let text = report.to_string();
    assert!(
        !text.contains(NODE_KEY) && !text.contains("a password"),
        "{text}"
    );

    let check = "node --config-file new/undertone.toml --check --json";
    let checked = place.run(check);
    let explained: Value = serde_json::from_str(&checked.succeeded().stdout).unwrap();
    let keys = explained.as_array().unwrap();
    let value = |name: &str| {
        let key = keys.iter().find(|key| key["key"] == name).unwrap();
        key["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(value("rest-port"), "18645");
    assert_eq!(value("store"), "true");
    assert_eq!(value("rln-message-limit"), "100");
    assert!(value("network").contains("twn"));

    let moved = IdentityFile::read(&place.path("new/data/rln-identity.json")).unwrap();
    let alice = IdentityFile::read(&place.path("alice")).unwrap();
    assert_eq!(moved.secret(), alice.secret());
    let unix_now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let clock = WallClock {
        unix_now_ns: u64::try_from(unix_now_ns.as_nanos()).unwrap(),
        epoch_size_s: 600,
        max_clock_gap_ns: 0,
    };
    let mut counter = MessageIdCounter::open(place.path("new/data/rln-counter"), 100).unwrap();
    let epoch = Epoch(clock.unix_now_ns / 600_000_000_000);
    let error = counter.next(epoch, &clock).unwrap_err();
    assert!(matches!(error, CounterError::EpochClosed { .. }), "{error}");

    let after = sources.map(|name| fs::read(place.path(name)).unwrap());
    assert!(before == after, "the sources were changed");
    let again = place.run(EVERYTHING);
    again.failed(1, &["new", "exists already"]);
}

#[tokio::test]
async fn the_copied_history_is_the_old_one_in_order_and_bad_rows_are_told() {
    let place = deployment();
    let report = place.run(EVERYTHING).json(0);
    assert_eq!(report["archive"]["copied"], 250);
    assert_eq!(report["archive"]["not_copied"], 1);
    assert_eq!(report["archive"]["other_hash"], 0);
    let told = report["archive"]["told"].to_string();
    assert!(told.contains("0x77") && told.contains("version"), "{told}");

    let url = ArchiveUrl::sqlite(place.path("new/data/store.sqlite"));
    let archive = Archive::open(&url, ArchiveOptions::default())
        .await
        .unwrap();
    let mut query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let mut hashes = Vec::new();
    loop {
        let page = archive.query(query.clone()).await.unwrap();
        hashes.extend(page.entries.iter().map(|entry| entry.hash));
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    let expected: Vec<_> = (0..250)
        .map(|number| message_hash(TOPIC, &message(number)))
        .collect();
    assert_eq!(hashes, expected);
}

#[test]
fn what_is_wrong_is_told_before_anything_is_written() {
    let place = deployment();
    let without = EVERYTHING.replace("--old-node-is-stopped", "");
    place.run(&without).failed(2, &["--old-node-is-stopped"]);
    fs::write(place.path("pw"), "another password\n").unwrap();
    place.run(EVERYTHING).failed(1, &["wrong password"]);
    fs::write(place.path("pw"), "a password\n").unwrap();
    let connection = Connection::open(place.path("store.sqlite3")).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    place
        .run(EVERYTHING)
        .failed(1, &["store.sqlite3", "version 7"]);
    fs::write(place.path(".env"), "NODEKEY=12\n").unwrap();
    place.run(EVERYTHING).failed(1, &["not a node key"]);
    assert!(!place.exists("new"));
}

/// A folder without any flags would be a node of a network of its own.
#[test]
fn without_a_source_nothing_is_made() {
    let place = Place::new();
    fs::write(place.path(".env"), "NODEKEY=12\n").unwrap();
    fs::write(place.path("key"), NODE_KEY).unwrap();
    for sources in ["", "--env .env", "--node-key-file key"] {
        let line = format!("migrate nwaku {sources} --output new");
        place.run(&line).failed(2, &["no source", "--compose"]);
    }
    let line = "migrate nwaku --env .env --release present --output new";
    place
        .run(line)
        .failed(2, &["\"present\" is no release", "0.38"]);
    assert!(!place.exists("new"));
}

#[test]
fn a_variable_that_is_set_nowhere_is_named_when_the_flags_make_no_configuration_without_it() {
    let place = Place::new();
    fs::write(
        place.path("run_node.sh"),
        "PORT=${BASE}x\nwakunode2 --tcp-port=${PORT}\n",
    )
    .unwrap();
    let line = "migrate nwaku --flags run_node.sh --output new";
    place
        .run(line)
        .failed(1, &["tcp-port", "run_node.sh:1: ${BASE} is set nowhere"]);
}

/// What the deployments of both generations consist of: a compose file, a script that it mounts, variables.
#[test]
fn deployments_of_both_generations_move_with_the_defaults_of_their_release() {
    let old = (
        "harbor.status.im/wakuorg/nwaku:v0.37.1",
        "exec /usr/bin/wakunode --cluster-id=66 --lightpush=true",
        "WAKUNODE2_REST_PORT",
        [
            ("num-shards-in-network", "1"),
            ("filter", "false"),
            ("rest", "true"),
        ],
    );
    let new = (
        "harbor.status.im/wakuorg/nwaku:v0.39.0",
        "exec /usr/bin/logosdeliverynode --entry-layer=kernel --cluster-id=66 --lightpush=true",
        "LOGOS_DELIVERY_NODE_REST_PORT",
        [
            ("num-shards-in-network", "0"),
            ("filter", "true"),
            ("rest", "false"),
        ],
    );
    for (image, command, variable, expected) in [old, new] {
        let place = Place::new();
        let compose = format!(
            "services:\n  node:\n    image: ${{NODE_IMAGE:-{image}}}\n    environment:\n      {variable}: 18645\n      \
             USER: ${{POSTGRES_USER}}\n      DOMAIN: ${{DOMAIN}}\n    volumes:\n      - ./run_node.sh:/opt/run_node.sh:Z\n    \
             entrypoint: sh\n    command:\n      - /opt/run_node.sh\n"
        );
        fs::write(place.path("docker-compose.yml"), compose).unwrap();
        let script = format!(
            "{command} --store=true \\\n  --store-message-db-url=\"postgres://${{USER}}:secret@postgres:5432/postgres\"\n"
        );
        fs::write(place.path("run_node.sh"), script).unwrap();
        fs::write(place.path(".env"), "POSTGRES_USER=waku\n").unwrap();
        let line = "migrate nwaku --compose docker-compose.yml --env .env --output new --json";
        let report = place.run(line).json(0);
        for flag in ["lightpush", "store", "store-message-db-url", "rest-port"] {
            assert_eq!(outcome(&report, flag), "kept", "{flag} of {image}");
        }
        let remarks = report["remarks"].to_string();
        let unset = "docker-compose.yml:7: ${DOMAIN} is set nowhere";
        assert!(remarks.contains(unset), "{remarks}");
        assert!(!report.to_string().contains("secret"), "{report}");

        let check = place.run("node --config-file new/undertone.toml --check --json");
        let explained: Value = serde_json::from_str(&check.succeeded().stdout).unwrap();
        let keys = explained.as_array().unwrap();
        for (name, value) in expected
            .into_iter()
            .chain([("rest-port", "18645"), ("lightpush", "true")])
        {
            let key = keys.iter().find(|key| key["key"] == name).unwrap();
            assert_eq!(key["value"], value, "{name} of {image}");
        }
        let toml = fs::read_to_string(place.path("new/undertone.toml")).unwrap();
        assert!(
            toml.contains("postgres://waku:secret@postgres:5432/postgres"),
            "{toml}"
        );
    }
}

/// Every message is kept under the hash that the reference node computed.
#[test]
fn an_archive_that_a_reference_node_wrote_moves() {
    let place = Place::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = here.join("../migrate/tests/recorded/store.sqlite3");
    fs::copy(recorded, place.path("store.sqlite3")).unwrap();
    fs::write(
        place.path("run_node.sh"),
        "exec wakunode2 --cluster-id=66 --store=true --store-message-db-url=sqlite://store.sqlite3\n",
    )
    .unwrap();
    let line = "migrate nwaku --flags run_node.sh --archive store.sqlite3 --output new --json";
    let report = place.run(line).json(0);
    let archive = &report["archive"];
    assert_eq!(archive["rows"], 4, "{report}");
    assert_eq!(archive["copied"], 4, "{report}");
    assert_eq!(archive["other_hash"], 0, "{report}");
}

/// Version 0 alone does not say which table it is.
#[test]
fn an_old_archive_without_a_version_is_refused() {
    let place = deployment();
    let connection = Connection::open(place.path("store.sqlite3")).unwrap();
    let older = "ALTER TABLE message ADD COLUMN storedAt INTEGER; PRAGMA user_version = 0;";
    connection.execute_batch(older).unwrap();
    drop(connection);
    place
        .run(EVERYTHING)
        .failed(1, &["store.sqlite3", "version 0"]);
}

/// The reference node reads the keys of its flags from a TOML file, too; flags go before the file.
#[test]
fn a_toml_file_moves_with_its_lists_and_flags_go_before_it() {
    let place = Place::new();
    let old = r#"
preset = "twn"
nodekey = "0101010101010101010101010101010101010101010101010101010101010101"
rest = true
rest-port = 18645
dns4-domain-name = "from-the-file.example.org"
staticnode = [
  "/dns4/a.example.org/tcp/30303/p2p/16Uiu2HAmPLe7Mzm8TsYUubgCAW1aJoeFScxrLj8ppHFivPo97bUZ",
  "/dns4/b.example.org/tcp/30303/p2p/16Uiu2HAmPLe7Mzm8TsYUubgCAW1aJoeFScxrLj8ppHFivPo97bUZ",
]
rln-relay-eth-client-address = ["http://127.0.0.1:8545"]
mix = true
"#;
    fs::write(place.path("old.toml"), old).unwrap();
    fs::write(
        place.path("run_node.sh"),
        "exec wakunode --dns4-domain-name=from-the-flags.example.org\n",
    )
    .unwrap();
    let migrate = "migrate nwaku --toml old.toml --flags run_node.sh --output new --json";
    let report = place.run(migrate).json(0);
    assert_eq!(outcome(&report, "staticnode"), "kept");
    assert_eq!(outcome(&report, "mix"), "no-counterpart");
    let text = report.to_string();
    assert!(
        text.contains("old.toml:5"),
        "the place of rest-port: {text}"
    );
    assert!(!text.contains(NODE_KEY), "{text}");

    let check = place.run("node --config-file new/undertone.toml --check --json");
    let explained: Value = serde_json::from_str(&check.succeeded().stdout).unwrap();
    let value = |name: &str| {
        let mut keys = explained.as_array().unwrap().iter();
        let key = keys.find(|key| key["key"] == name).unwrap();
        key["value"].to_string()
    };
    assert!(value("rest-port").contains("18645"));
    assert!(value("dns4-domain-name").contains("from-the-flags"));
    let peers = value("static-peers");
    for name in ["a.example.org", "b.example.org"] {
        assert!(peers.contains(name), "{peers}");
    }
    fs::write(place.path("old.toml"), "rest-port = [").unwrap();
    let again = migrate.replace("new", "other");
    place.run(&again).failed(1, &["old.toml:1"]);
}
