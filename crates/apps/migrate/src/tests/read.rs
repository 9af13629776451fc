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
fn each_generation_has_its_programs_images_and_variables() {
    for (text, releases) in [
        ("wakunode2 --relay", "0.38 or before"),
        ("exec /usr/bin/wakunode --relay", "0.38 or before"),
        (
            "exec /usr/local/bin/logosdeliverynode --relay",
            "0.39 or later",
        ),
        ("docker run statusteam/nim-waku:v0.19.0 --relay", "0.19"),
        (
            "docker run -p 1:1 harbor.status.im/wakuorg/nwaku:v0.37.1-beta --relay",
            "0.37",
        ),
        ("docker run wakuorg/nwaku:latest --relay", "any release"),
        (
            "podman run quay.io/wakuorg/nwaku-pr:4057-logosdeliverynode --relay",
            "0.39 or later",
        ),
        (
            "docker run harbor.status.im/wakuorg/nwaku:v0.39.0 --relay",
            "0.39",
        ),
        (
            "docker run harbor.status.im/wakuorg/logosdelivery:latest-release --relay",
            "0.39 or later",
        ),
        ("WAKUNODE2_RELAY=true wakunode2", "0.38 or before"),
        (
            "docker run -e \"WAKUNODE2_RELAY=true\" wakuorg/nwaku:v0.36.0",
            "0.36",
        ),
        (
            "export LOGOS_DELIVERY_NODE_RELAY=true\nlogosdeliverynode",
            "0.39 or later",
        ),
        ("--relay", "any release"),
    ] {
        let found = script(text, &[]);
        assert_eq!(given(&found), [("relay", "true")], "{text}");
        assert_eq!(found.releases.to_string(), releases, "{text}");
        assert_eq!(found.remarks, [], "{text}");
    }
}

#[test]
fn the_newer_prefix_of_variables_goes_before_the_older_one() {
    let variables = [
        ("LOGOS_DELIVERY_NODE_TCP_PORT", "1"),
        ("WAKUNODE2_STATICNODE", "[\"a\", \"b\"]"),
        ("WAKUNODE2_TCP_PORT", "2"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
    let found = flags_of(&variables.into(), ".env");
    let expected = [("staticnode", "a"), ("staticnode", "b"), ("tcp-port", "1")];
    assert_eq!(given(&found), expected);
    let (place, what) = &found.remarks[0];
    assert_eq!(place, ".env");
    assert!(what.contains("0.39 or later is believed"), "{what}");
}

#[test]
fn a_variable_that_is_set_nowhere_is_named_with_its_place() {
    let text = "A=x${B}\nwakunode2 --tcp-port=${PORT} --rest ${EXTRA} \\\n \
                --store-message-db-url=\"postgres://${PG}:secret@h/d\" --relay ${C:-${D}}\n";
    let found = script(text, &[("SET", "1")]);
    assert_eq!(given(&found), [("rest", "true"), ("relay", "true")]);
    let told: Vec<_> = found
        .remarks
        .iter()
        .map(|(place, what)| {
            let line = place.rsplit(':').next().unwrap();
            (line, what.split(';').next().unwrap())
        })
        .collect();
    let expected = [
        ("1", "${B} is set nowhere: it counts as empty"),
        ("2", "${PORT} is set nowhere: --tcp-port is left out"),
        ("2", "${EXTRA} is set nowhere: it counts as empty"),
        (
            "2",
            "${PG} is set nowhere: --store-message-db-url is left out",
        ),
        ("2", "${D} is set nowhere: it counts as empty"),
    ];
    assert_eq!(told, expected);
    // What only a condition asks for may be unset.
    let text = "if [ -n \"${A}\" ]; then\n  X=1\nfi\nwakunode2 --rest\n";
    assert_eq!(script(text, &[]).remarks, []);
}

#[test]
fn a_variable_that_a_compose_file_lacks_is_named_with_its_place() {
    let service = "    environment:\n      WAKUNODE2_REST: \"true\"\n      DOMAIN: ${DOMAIN}\n    \
                   command:\n      - --nodekey=${NODEKEY}\n      - --relay\n";
    let found = compose("", service).unwrap();
    assert_eq!(given(&found), [("rest", "true"), ("relay", "true")]);
    let told = |at: usize, end: &str, name: &str| {
        let (place, what) = &found.remarks[at];
        assert!(
            place.ends_with(end) && what.contains(name),
            "{place}: {what}"
        );
    };
    told(0, "compose.yml:6", "${DOMAIN}");
    told(
        1,
        "compose.yml:8",
        "${NODEKEY} is set nowhere: --nodekey is left out",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compose.yml");
    fs::write(&path, "services:\n  node:\n    image: ${NODE_IMAGE}\n").unwrap();
    let error = read_compose(&path, &Variables::new()).unwrap_err();
    assert!(
        error.to_string().contains("${NODE_IMAGE} is set nowhere"),
        "{error}"
    );
}

#[test]
fn a_service_has_flags_in_its_entrypoint_and_in_files_of_variables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compose.yml");
    fs::write(
        folder.path().join("a.env"),
        "LOGOS_DELIVERY_NODE_REST=true\nLOGOS_DELIVERY_NODE_STORE=1\n",
    )
    .unwrap();
    fs::write(folder.path().join("b.env"), "LOGOS_DELIVERY_NODE_STORE=0\n").unwrap();
    let expected = [
        ("rest", "true"),
        ("store", "0"),
        ("relay", "true"),
        ("filter", "false"),
    ];
    for (service, releases) in [
        (
            "    image: harbor.status.im/wakuorg/nwaku:v0.39.0-rc.2\n    env_file: [a.env, {path: b.env}]\n    \
             entrypoint: [/usr/local/bin/logosdeliverynode, --relay=true]\n    command: [--filter=false]\n",
            "0.39",
        ),
        (
            "    build: .\n    env_file: [a.env, b.env]\n    \
             entrypoint: logosdeliverynode --relay=true --filter=false\n",
            "0.39 or later",
        ),
        (
            "    image: wakuorg/nwaku:v0.39.1\n    env_file: [a.env, b.env]\n    \
             command: [sh, -c, \"exec logosdeliverynode --relay=true --filter=false\"]\n",
            "0.39",
        ),
    ] {
        fs::write(&path, format!("services:\n  node:\n{service}")).unwrap();
        let found = read_compose(&path, &Variables::new()).unwrap();
        assert_eq!(given(&found), expected, "{service}");
        assert_eq!(found.releases.to_string(), releases, "{service}");
        assert_eq!(found.remarks, [], "{service}");
    }
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

/// Flags of a compose file with a service that has the given entries, after other entries of the file.
fn compose(before: &str, service: &str) -> Result<Found, ReadFault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compose.yml");
    let text = format!("{before}services:\n  node:\n    image: wakuorg/nwaku\n{service}");
    fs::write(&path, text).unwrap();
    read_compose(&path, &Variables::new())
}

#[test]
fn a_list_may_go_over_lines_and_hold_what_looks_like_yaml() {
    let over =
        "    command: [\"--relay=true\",\n      '--agent-string=a, b #c',\n      --rest=true]\n";
    let found = compose("", over).unwrap();
    let expected = [
        ("relay", "true"),
        ("agent-string", "a, b #c"),
        ("rest", "true"),
    ];
    assert_eq!(given(&found), expected);
    let place = &found.flags[0].place;
    assert!(place.ends_with("compose.yml:4"), "{place}");
    let folded = "    command: >-\n      --relay=true\n      --agent-string=\"a # b\"\n";
    let expected = [("relay", "true"), ("agent-string", "a # b")];
    assert_eq!(given(&compose("", folded).unwrap()), expected);
}

#[test]
fn an_environment_is_a_map_or_a_list_in_each_style() {
    let expected = [("rest", "true"), ("tcp-port", "007")];
    for environment in [
        "{WAKUNODE2_REST: true, WAKUNODE2_TCP_PORT: 007}",
        "[WAKUNODE2_REST=true, \"WAKUNODE2_TCP_PORT=007\"]",
        "\n      \"WAKUNODE2_REST\": 'true' # yes\n      WAKUNODE2_TCP_PORT: 007",
    ] {
        let found = compose("", &format!("    environment: {environment}\n"));
        assert_eq!(given(&found.unwrap()), expected, "{environment}");
    }
}

#[test]
fn merged_maps_give_what_a_map_has_not_itself_and_earlier_ones_first() {
    let before = "x-a: &a {WAKUNODE2_REST: 1, WAKUNODE2_RELAY: 1}\n\
                  x-b: &b\n  <<: *a\n  WAKUNODE2_RELAY: 2\n  WAKUNODE2_STORE: 2\n\
                  x-c: &c {WAKUNODE2_STORE: 3, WAKUNODE2_REST: 3, WAKUNODE2_FILTER: 3}\n";
    let service = "    environment:\n      WAKUNODE2_REST: 0\n      <<: [*b, *c]\n";
    let expected = [
        ("filter", "3"),
        ("relay", "2"),
        ("rest", "0"),
        ("store", "2"),
    ];
    assert_eq!(given(&compose(before, service).unwrap()), expected);
}

#[test]
fn what_is_wrong_in_a_compose_file_is_told_with_its_line() {
    let nested = |open: &str, count| format!("x-a: {}", open.repeat(count));
    let keys = (1..7).map(|i| {
        let before = format!("*a{}, ", i - 1).repeat(10);
        format!("x-{i}: &a{i} {{? [{before}] : 1}}\n")
    });
    let keys = keys.collect::<String>();
    let merged = (0..4_000).map(|i| format!("x-{i}: {{<<: *a}}\n"));
    let twenty = (0..20).map(|i| format!("A{i}: 1, ")).collect::<String>();
    for (before, line, what) in [
        (
            "x-a: &a\n  A: 1\n  <<: *a\n".to_owned(),
            3,
            "an alias of the anchor around it",
        ),
        (
            "x-a: &a [*a]\n".to_owned(),
            1,
            "an alias of the anchor around it",
        ),
        ("x-a: *b\n".to_owned(), 1, "unknown anchor in \"x-a: *b\""),
        (
            "x-a: &a 1\nx-b: {<<: *a}\n".to_owned(),
            2,
            "<< merges what is no map",
        ),
        (
            "x-a:\n  A: 1\n  A: 2\n".to_owned(),
            3,
            "a key for the second time in \"A: 2\"",
        ),
        ("x-a:\n\t- 1\n".to_owned(), 2, "in \"- 1\""),
        (
            format!("x-0: &a0 {{a: 1}}\n{keys}"),
            2,
            "no text, but a list or map",
        ),
        (
            format!("x: &a {{{twenty}}}\n{}", merged.collect::<String>()),
            1_365,
            "more than 32768 nodes",
        ),
        (
            format!("{}\n", nested("[", 100_000)),
            1,
            "recursion limit exceeded",
        ),
        (
            format!("x-a:\n{}\n", "- ".repeat(100_000)),
            2,
            "more than 64 lists and maps in each other",
        ),
        (
            format!("x-a:\n{}\n", "? ".repeat(100_000)),
            2,
            "no text, but a list or map in \"? ? ",
        ),
        ("a: 1\n---\n".to_owned(), 2, "a second document"),
    ] {
        let error = compose(&before, "").map(|_| ()).unwrap_err().to_string();
        let place = format!("compose.yml:{line}: ");
        let is_told = error.contains(&place) && error.contains(what);
        assert!(
            is_told,
            "{what} at {line}: {}",
            error.chars().take(300).collect::<String>()
        );
    }
    for service in [
        "    command: [[--relay]]\n",
        "    environment:\n    - A: 1\n",
    ] {
        let error = compose("", service).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("no text"), "{error}");
    }
}

#[test]
fn aliases_that_multiply_cost_nothing() {
    let laughs = (1..60).map(|i| {
        let before = format!("*a{}, ", i - 1).repeat(10);
        format!("x-{i}: &a{i} [{before}]\n")
    });
    let before = format!("x-0: &a0 [lol]\n{}", laughs.collect::<String>());
    let found = compose(&before, "    command: [--relay]\n").unwrap();
    assert_eq!(given(&found), [("relay", "true")]);
}

#[test]
fn a_file_that_is_none_or_too_long_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in [Path::new("/dev/zero"), folder.path()] {
        let error = text_of(path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
    let long = folder.path().join("long");
    fs::write(&long, vec![b' '; 16 << 20]).unwrap();
    let error = read_compose(&long, &Variables::new()).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}
