//! Tests of the readers of scripts, compose files, TOML and `.env` files.

use std::fs;

use super::*;

fn given(found: &Found) -> Vec<(&str, &str)> {
    let flags = found.flags.iter();
    flags
        .map(|flag| (flag.name.as_str(), flag.value.as_str()))
        .collect()
}

fn script(text: &str, variables: &[(&str, &str)]) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run_node.sh");
    fs::write(&path, text).unwrap();
    let pairs = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())));
    read_script(&path, &pairs.collect()).unwrap()
}

#[test]
fn flags_are_written_in_four_ways() {
    let found = script(
        "wakunode2 --tcp-port=1 --nat:none --shard 3 --relay --store false --rest",
        &[],
    );
    let expected = [
        ("tcp-port", "1"),
        ("nat", "none"),
        ("shard", "3"),
        ("relay", "true"),
        ("store", "false"),
        ("rest", "true"),
    ];
    assert_eq!(given(&found), expected);
}

#[test]
fn variables_and_conditions_are_followed() {
    let text = "SIZE=--store-message-retention-policy=size:1GB\n\
                if [ -n \"${BIG}\" ]; then\n  SIZE=--store-message-retention-policy=size:\"${BIG}\"\nelse\n  X=1\nfi\n\
                exec /usr/bin/wakunode\\\n  --tcp-port=${PORT:-30304}\\\n  ${EMPTY}\\\n  ${SIZE}\n";
    let policy = |found: &Found| found.flags[1].value.clone();
    assert_eq!(policy(&script(text, &[])), "size:1GB");
    let big = script(text, &[("BIG", "9GB"), ("PORT", "7")]);
    assert_eq!(
        given(&big),
        [
            ("tcp-port", "7"),
            ("store-message-retention-policy", "size:9GB")
        ]
    );
}

#[test]
fn what_only_a_command_knows_is_told_with_its_line() {
    let found = script(
        "IP=$(wget -qO- x)\nwakunode2 --nat=extip:\"${IP}\" --relay=true\n",
        &[],
    );
    assert_eq!(given(&found), [("relay", "true")]);
    let (place, what) = &found.remarks[0];
    assert!(
        place.ends_with("run_node.sh:2") && what.contains("${IP}"),
        "{place} {what}"
    );
}

#[test]
fn a_compose_file_has_a_command_or_mounts_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docker-compose.yml");
    let list = "services:\n  db:\n    image: postgres\n    command: postgres -c x\n  node:\n    \
                image: ${IMAGE:-harbor/wakuorg/nwaku:v1}\n    environment:\n      WAKUNODE2_REST: \"true\"\n    \
                command:\n      - --relay=true # yes\n      - --tcp-port=${PORT}\n";
    fs::write(&path, list).unwrap();
    let variables = Variables::from([("PORT".to_owned(), Some("5".to_owned()))]);
    let found = read_compose(&path, &variables).unwrap();
    assert_eq!(
        given(&found),
        [("rest", "true"), ("relay", "true"), ("tcp-port", "5")]
    );

    let mounted = "x-pass: &pass ${P:-secret}\nx-env: &env\n  A: *pass\nservices:\n  node:\n    image: wakuorg/nwaku\n    \
                   environment:\n      <<:\n        - *env\n    volumes:\n      - ./run.sh:/opt/run.sh:Z\n    \
                   entrypoint: sh\n    command:\n      - /opt/run.sh\n";
    fs::write(&path, mounted).unwrap();
    fs::write(
        folder.path().join("run.sh"),
        "wakunode2 --agent-string=${A}\n",
    )
    .unwrap();
    let found = read_compose(&path, &Variables::new()).unwrap();
    assert_eq!(given(&found), [("agent-string", "secret")]);
}

#[test]
fn variables_that_double_are_unknown_before_they_are_long() {
    let mut text = "A=0123456789abcdef\n".to_owned();
    for _ in 0..60 {
        text.push_str("A=$A$A\n");
    }
    text.push_str("wakunode2 --tcp-port=1 --nodekey=$A\n");
    let found = script(&text, &[]);
    assert_eq!(given(&found), [("tcp-port", "1")]);
    assert!(found.remarks[0].1.contains("cannot be evaluated"));
}

#[test]
fn defaults_within_defaults_are_followed_to_a_depth() {
    let nested = |depth: usize| format!("{}7{}", "${A:-".repeat(depth), "}".repeat(depth));
    let read = |depth| {
        script(
            &format!("wakunode2 --rest --tcp-port={}", nested(depth)),
            &[],
        )
    };
    assert_eq!(given(&read(3))[1], ("tcp-port", "7"));
    assert_eq!(given(&read(20_000)).len(), 1);
}

fn compose(environment: &str) -> Result<Found, ReadFault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compose.yml");
    let text = format!(
        "{environment}services:\n  node:\n    image: wakuorg/nwaku\n    environment:\n      <<: *a0\n      WAKUNODE2_REST: true\n"
    );
    fs::write(&path, text).unwrap();
    read_compose(&path, &Variables::new())
}

#[test]
fn an_anchor_that_merges_itself_ends_there() {
    let found = compose("x-a: &a0\n  WAKUNODE2_TCP_PORT: 1\n  <<: *a0\n").unwrap();
    assert_eq!(given(&found), [("rest", "true"), ("tcp-port", "1")]);
    let pair = "x-a: &a0\n  <<: *a1\n  <<: *a1\nx-b: &a1\n  WAKUNODE2_TCP_PORT: 1\n  <<: *a0\n";
    let found = compose(pair).unwrap();
    assert_eq!(given(&found), [("rest", "true"), ("tcp-port", "1")]);
}

#[test]
fn anchors_are_merged_to_a_number() {
    let mut text = String::new();
    for index in 0..5_000 {
        text.push_str(&format!("x-{index}: &a{index}\n  <<: *a{}\n", index + 1));
    }
    text.push_str("x-end: &a5000\n  WAKUNODE2_TCP_PORT: 1\n");
    let error = compose(&text).unwrap_err().to_string();
    assert!(error.contains("more than 64 anchors"), "{error}");
}

#[test]
fn a_file_that_is_none_or_too_long_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in [Path::new("/dev/zero"), folder.path()] {
        let error = text_of(path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
    let long = folder.path().join("long");
    fs::write(&long, vec![b' '; 1 << 20]).unwrap();
    let error = text_of(&long).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}
