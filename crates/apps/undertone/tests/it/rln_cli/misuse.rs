//! Wrong files, wrong order, wrong usage: what is said, and what is left alone.

use std::fs;

use crate::support::place::{Place, T, TOPIC};

#[test]
fn what_goes_wrong_before_the_proof_costs_no_message_id() {
    let (place, _) = Place::with_member(1);
    fs::write(place.path("taken"), "precious").unwrap();
    fs::write(place.path("large"), vec![0; 150 * 1024 - 300]).unwrap();
    place
        .prove(T, "--out taken")
        .failed(1, &["taken: exists already"]);
    place
        .prove(T, "--out no/m")
        .failed(1, &["no: not a folder"]);
    place.prove(T, "--payload-file none").failed(1, &["none: "]);
    let line = format!(
        "rln prove --registry r --identity alice --counter c --network twn --content-topic \
         {TOPIC} --timestamp-ns {T} --payload-file large"
    );
    place
        .run(&line)
        .failed(1, &["network twn carries at most 153600"]);
    let far_ahead = i64::MAX as u64;
    place
        .prove(far_ahead, "")
        .failed(1, &["--timestamp-ns 9223372036854775807", "ahead"]);
    assert_eq!(fs::read(place.path("taken")).unwrap(), b"precious");
    assert!(!place.exists("c"));
    assert_eq!(place.prove(T, "").json(0)["message_id"], 0);
}

#[test]
fn files_that_are_something_else_are_named_and_left_alone() {
    let (place, _) = Place::with_member(1);
    let (alice, registry) = (
        fs::read(place.path("alice")).unwrap(),
        fs::read(place.path("r")).unwrap(),
    );
    for (line, said) in [
        ("keygen --out alice", "alice: exists already"),
        ("keygen --out no/alice", "no/alice: "),
        ("register --registry r --identity r", "r: "),
        ("register --registry r --identity none", "none: "),
        (
            "register --registry alice --identity alice",
            "alice: not an SQLite database",
        ),
        (
            "register --registry r --identity alice",
            "r: the commitment is registered already",
        ),
        ("list --registry alice", "alice: not an SQLite database"),
        ("list --registry .", "."),
        ("verify --registry r --message none", "none: "),
        (
            "verify --registry r --message alice",
            "alice: not hex digits",
        ),
    ] {
        place.run(&format!("rln {line}")).failed(1, &[said]);
    }
    assert_eq!(fs::read(place.path("alice")).unwrap(), alice);
    assert_eq!(fs::read(place.path("r")).unwrap(), registry);
}

#[test]
fn only_register_makes_a_registry_and_only_if_it_succeeds() {
    let place = Place::new();
    place.run("rln keygen --out alice").succeeded();
    fs::write(place.path("empty"), "").unwrap();
    for registry in ["r", "empty"] {
        let absent = format!("{registry}: there is no registry");
        for line in ["list", "remove --index 0", "verify --message alice"] {
            let ran = place.run(&format!("rln {line} --registry {registry}"));
            ran.failed(1, &[&absent, "help: "]);
        }
    }
    let line = "rln register --registry r --identity alice --limit 101";
    place
        .run(line)
        .failed(1, &["r: ", "101", "--limit 1 to 100"]);
    place
        .run("rln register --registry r --identity none")
        .failed(1, &["none"]);
    assert!(!place.exists("r"));
    assert_eq!(fs::read(place.path("empty")).unwrap(), b"");
    place
        .run("rln register --registry r --identity alice --limit 100")
        .succeeded();
    place.run("rln keygen --out bob").succeeded();
    let line = "rln register --registry r --identity bob --limit 101";
    place
        .run(line)
        .failed(1, &["r: limit 101 is outside 1..=100"]);
}

#[test]
fn wrong_usage_is_status_2_and_help_is_0() {
    let place = Place::new();
    let prove = "rln prove --registry r --identity i --counter c";
    for (line, said) in [
        ("rln".to_owned(), "Usage"),
        ("rln sign".to_owned(), "sign"),
        ("rln list".to_owned(), "--registry"),
        (
            "rln remove --registry r --index 1048576".to_owned(),
            "0 to 1048575",
        ),
        (
            "rln register --registry r --identity i --limit 0".to_owned(),
            "--limit",
        ),
        (
            "rln verify --registry r --message m --network locl".to_owned(),
            "\"local\"",
        ),
        (
            format!("{prove} --content-topic chat"),
            "must start with slash",
        ),
        (
            format!("{prove} --content-topic {TOPIC} --timestamp-ns 0"),
            "--timestamp-ns",
        ),
        (
            format!("{prove} --content-topic {TOPIC} --payload a --payload-file f"),
            "cannot be used with",
        ),
    ] {
        let ran = place.run(&line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said:?} not in {ran:?}");
    }
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 0);
    for line in ["--help", "rln --help", "rln prove --help", "--version"] {
        place.run(line).succeeded();
    }
}
