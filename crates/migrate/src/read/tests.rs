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
