//! What `undertone node` says about a command line that is wrong.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Status and what is said of a node that is not to start.
fn refused(args: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.arg("node").args(args).stdin(Stdio::null());
    command.arg("--data-dir").arg(folder.path());
    let output = command.output().expect("the program was built");
    let said = String::from_utf8(output.stderr).expect("it says text");
    (output.status.code(), said)
}

#[cfg(feature = "lab")]
#[test]
fn parameters_of_the_router_are_checked_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.toml");
    let path = path.to_str().unwrap();
    for (text, expected) in [
        (
            "[relay]\nd = 6\ndlow = 4\n",
            ":3: unknown key \"relay.dlow\"; did you mean \"d_low\"?",
        ),
        (
            "[relay]\nheartbeat_ms = \"often\"\n",
            ":2: relay.heartbeat_ms = \"often\": expected a number",
        ),
        (
            "[relay]\ntopics = 2\n",
            ":2: relay.topics = 2: expected no such key here: a node has the flag --shards",
        ),
    ] {
        fs::write(path, text).unwrap();
        let (status, said) = refused(&["--relay-parameters", path]);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(&format!("{path}{expected}")), "{said}");
    }
    let (status, said) = refused(&["--relay-parameters", "/nowhere/relay.toml"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("cannot read /nowhere/relay.toml"), "{said}");
}

#[test]
fn a_clock_that_is_behind_may_be_written_with_a_space() {
    let (status, said) = refused(&["--clock-ahead-ms", "-2000000000"]);
    assert_eq!(status, Some(2), "{said}");
    let expected = "clock-ahead-ms = -2000000000: expected milliseconds";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_flag_of_the_reference_node_is_answered_with_what_it_is_here() {
    for (flag, tip) in [
        (
            "--rln-relay-eth-client-address=http://127.0.0.1:1",
            "--rln-relay-eth-client-address of the reference node is --rln-eth-rpc here",
        ),
        (
            "--websocket-support",
            "--websocket-support of the reference node is --websocket here",
        ),
        (
            "--staticnode=/ip4/127.0.0.1/tcp/1",
            "--staticnode of the reference node is --static-peers here",
        ),
        ("--preset=twn", "the key network"),
        ("--keep-alive=true", "is not needed here: connections are"),
        ("--mix=true", "has no counterpart here: there is no mix"),
    ] {
        let (status, said) = refused(&[flag]);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(tip), "{flag}: {said}");
        assert_eq!(said.matches("tip:").count(), 1, "{flag}: {said}");
    }
    let (_, said) = refused(&["--tcp-prt=1"]);
    assert!(
        said.contains("similar argument exists: '--tcp-port'"),
        "{said}"
    );
}

#[test]
fn help_begins_with_the_keys_that_matter_first() {
    let help = |form: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        let output = command.args(["node", form]).output();
        String::from_utf8(output.expect("the program was built").stdout).expect("it says text")
    };
    let (short, long) = (help("-h"), help("--help"));
    let place = |text: &str| long.find(text).unwrap_or_else(|| panic!("{text}: {long}"));
    let places = [
        "Begin with:",
        "--network ",
        "--store[",
        "Network and shards:",
        "--cluster-id ",
    ];
    assert!(places.map(place).is_sorted(), "{long}");
    assert!(place("Router (GossipSub):") < place("--gossip-d "));
    assert!(short.contains("--rln-identity-file "), "{short}");
    assert!(!short.contains("--rln-batch-max "), "{short}");
}

#[test]
fn no_flag_makes_a_spammer_of_a_node() {
    let (status, said) = refused(&["--network", "local", "--spam"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("unexpected argument '--spam'"), "{said}");
}

#[cfg(feature = "lab")]
#[test]
fn an_attacker_node_refuses_other_networks() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args([
        "testbed",
        "attacker-node",
        "--network",
        "twn",
        "--rln=false",
    ]);
    command
        .arg("--data-dir")
        .arg(folder.path())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("testbed` only: network twn"), "{said}");
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 0, "nothing was started");
}

#[test]
fn a_configuration_is_explained_without_starting_a_node() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["node", "--check", "--json", "--tcp-port", "7"]);
    command.arg("--data-dir").arg(folder.path());
    let output = command.output().expect("the program was built");
    assert_eq!(output.status.code(), Some(0));
    let keys: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it says JSON");
    let mut keys = keys.as_array().expect("a list of keys").iter();
    let port = keys.find(|key| key["key"] == "tcp-port");
    let port = port.expect("every key is explained");
    assert_eq!(
        (&port["value"], &port["source"]),
        (&"7".into(), &"flag --tcp-port".into())
    );
    let left = fs::read_dir(folder.path())
        .expect("the folder is there")
        .count();
    assert_eq!(left, 0, "nothing was started");
    // What the values are taken for alone, together, and what the files are.
    for (flag, value) in [
        ("tcp-port", "70000"),
        ("tcp-port", "8645"),
        ("rate-limit", "store:abc"),
        ("node-key-file", "/nowhere/key"),
        ("rln-identity-file", "/nowhere/identity"),
        ("rln-identity-file", "/dev/zero"),
        ("config-file", "/dev/zero"),
    ] {
        let flag = format!("--{flag}");
        let (status, checked) = refused(&["--check", &flag, value]);
        assert_eq!(status, Some(2), "{flag} {value}: {checked}");
        let (status, started) = refused(&[&flag, value]);
        assert!(matches!(status, Some(1 | 2)), "{started}");
        let reason = checked.lines().next().unwrap_or_default();
        assert!(started.contains(reason), "{checked}\n{started}");
    }
}

#[test]
fn logs_name_a_static_peer_that_is_away_once_and_do_not_complain_of_being_the_first() {
    let away = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = away.local_addr().expect("it is bound").port();
    drop(away);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["node", "--rest=false", "--rln=false", "--tcp-port=0"]);
    command.args([
        "--listen-address=127.0.0.1",
        "--discv5-udp-port=0",
        "--discv5-discovery=true",
    ]);
    command.arg(format!("--static-peers=/ip4/127.0.0.1/tcp/{port}"));
    command.arg("--data-dir").arg(folder.path());
    command.env("UNDERTONE_LOG", "info,undertone_discovery=debug");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut node = command.spawn().expect("the program was built");
    let (sender, lines) = mpsc::channel();
    let said = BufReader::new(node.stderr.take().expect("it is piped"));
    let reading = thread::spawn(move || {
        for line in said.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut log = Vec::new();
    let has = |log: &[String], text: &str| log.iter().any(|line| line.contains(text));
    while !has(&log, "a named peer cannot be reached") || !has(&log, "a discv5 look-up ended") {
        match lines.recv_timeout(Duration::from_secs(60)) {
            Ok(line) => log.push(line),
            Err(_) => break,
        }
    }
    node.kill().expect("it runs still");
    node.wait().expect("it was started here");
    reading.join().expect("it does not panic");
    log.extend(lines);
    assert!(has(&log, "a discv5 look-up ended"), "{log:#?}");
    let told = log
        .iter()
        .filter(|line| line.contains("a named peer cannot be reached"));
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1, "{log:#?}");
    assert!(told[0].contains(&port.to_string()), "{}", told[0]);
    let complaints = log.iter().filter(|line| line.starts_with("WRN"));
    assert_eq!(complaints.count(), 1, "{log:#?}");
}

#[test]
fn the_doctor_shows_no_credentials() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args([
        "doctor",
        "--ntp-server=none",
        "--tcp-port=0",
        "--rest-port=0",
    ]);
    command.arg("--rln-eth-rpc=http://me:SECRET@127.0.0.1:1/SECRET?key=SECRET");
    command.arg("--rln-eth-contract=eip155:59141:0xB9cd878C90E49F797B4431fBF4fb333108CB90e6");
    command.arg("--data-dir").arg(folder.path());
    let output = command.output().expect("the program was built");
    let said = format!("{output:?}");
    assert!(said.contains("http://127.0.0.1:1"), "{said}");
    assert!(!said.contains("SECRET"), "{said}");
}

#[test]
fn the_doctor_names_what_is_bad_and_says_so_to_scripts() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let examine = |rest_port: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.args(["doctor", "--ntp-server=none", "--rln=false"]);
        command.args(["--listen-address=127.0.0.1", "--tcp-port=0"]);
        command.arg(format!("--rest-port={rest_port}"));
        command.arg("--data-dir").arg(folder.path());
        let output = command.output().expect("the program was built");
        let said = String::from_utf8(output.stdout).expect("it says text");
        (output.status.code(), said)
    };
    let (status, said) = examine("0");
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = examine(&port);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("bad          rest-port"), "{said}");
    assert!(
        said.contains("-> stop the program that listens there"),
        "{said}"
    );
}
