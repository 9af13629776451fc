//! Tests of `[services]`: what its keys do, and messages about mistakes.

use undertone_lab::scenario::{Loaded, parse};
use undertone_sim::scenario::{FloodedService, PushVersion, ServicesSetup, TroubleKind};

/// The shortest valid scenario.
const LEAST: &str = "\
[scenario]
nodes = 10
[topology]
kind = \"line\"
[network]
uplink_mbit_per_s = 100
downlink_mbit_per_s = 100
one_way_ms = 50
[traffic]
messages = 1
payload_bytes = 100
first_s = 5
";

fn read(text: &str) -> Loaded {
    parse(text, "s.toml", "s", None, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    let error = parse(text, "s.toml", "s", None, &[]).expect_err("there is a mistake");
    error.to_string()
}

const SERVICES: &str = "[services]\nservice_nodes = 4\nlight_clients = 20\n";

fn services(more: &str) -> ServicesSetup {
    let text = format!("{LEAST}{SERVICES}{more}");
    let services = read(&text).scenario.services;
    services.expect("the scenario has services")
}

#[test]
fn without_the_table_all_nodes_are_relays() {
    assert!(read(LEAST).scenario.services.is_none());
    let setup = services("");
    assert_eq!((setup.service_nodes, setup.light_clients), (4, 20));
    assert_eq!((setup.peers_per_client, setup.filter_peers), (4, 2));
    assert_eq!((setup.subscribes, setup.publish_one_in), (true, 2));
    assert!(setup.store && setup.read_every_ns.is_none() && setup.sleep.is_none());
}

#[test]
fn clients_do_what_the_file_says() {
    let setup = services("clients = \"publish\"\npublish_one_in = 1\n");
    assert_eq!((setup.subscribes, setup.publish_one_in), (false, 1));
    let setup = services("clients = \"subscribe\"\ncontent_topics = 5\ntopics_per_client = 2\n");
    assert_eq!((setup.publish_one_in, setup.content_topics), (0, 5));
    let each = SERVICES.replace("light_clients = 20", "clients_per_service_node = 30");
    let setup = read(&format!("{LEAST}{each}")).scenario.services.unwrap();
    assert_eq!(setup.light_clients, 120);
    let setup = services("read_every_s = 1.5\npage_size = 7\nquery_ms = 3\n");
    let reading = (setup.read_every_ns, setup.page_size, setup.query_ns);
    assert_eq!(reading, (Some(1_500_000_000), 7, 3_000_000));
    let setup = services("uplink_mbit_per_s = 8\ndownlink_mbit_per_s = 16\n");
    assert_eq!(setup.client_rates, Some((1_000_000, 2_000_000)));
}

#[test]
fn clients_find_judge_and_send_as_the_file_says() {
    let setup = services("");
    assert_eq!((setup.known_peers, setup.metadata), (None, false));
    assert_eq!((setup.lightpush, setup.channel), (PushVersion::V3, false));
    let setup = services("known_peers = 1\nmetadata = true\nlightpush = \"v2\"\n");
    assert_eq!((setup.known_peers, setup.metadata), (Some(1), true));
    assert_eq!(setup.lightpush, PushVersion::V2);
    let setup = services("channel = true\n");
    assert_eq!((setup.channel, setup.publish_one_in), (true, 1));
}

#[test]
fn troubles_sleeps_and_floods() {
    let setup = services(
        "stream_loss = 0.1\nconnection_lost_every_s = 60\nsleep_every_s = 90\nsleep_s = 30\n\
         noticed_after_s = 20\nrate_limits = \"store:5/1s;filter:9/1m\"\n\
         [[services.troubles]]\nkind = \"lies\"\npeer = 3\nat_s = 7\nfor_s = 8\n\
         [services.flood]\nclients = 2\nat_s = 1\nfor_s = 2\nrequests_per_s = 50\nservice = \"store\"\n",
    );
    let sleep = setup.sleep.unwrap();
    assert_eq!(
        (sleep.every_ns, sleep.for_ns),
        (90_000_000_000, 30_000_000_000)
    );
    assert_eq!(setup.noticed_after_ns, 20_000_000_000);
    let trouble = setup.troubles[0];
    assert_eq!((trouble.kind, trouble.peer), (TroubleKind::Lies, 3));
    let flood = setup.flood.unwrap();
    assert_eq!((flood.clients, flood.interval_ns), (2, 20_000_000));
    assert_eq!(flood.service, Some(FloodedService::Store));
    assert_eq!(setup.honest_clients(), 18);
}

#[test]
fn mistakes_name_the_key_and_what_is_expected() {
    let text = |more: &str| error(&format!("{LEAST}{SERVICES}{more}"));
    for (more, expected) in [
        ("peers_per_client = 5\n", "services.peers_per_client"),
        ("known_peers = 5\n", "services.known_peers"),
        ("lightpush = \"v1\"\n", "\"v2\", \"v3\""),
        (
            "clients = \"subscribe\"\nlightpush = \"v2\"\n",
            "services.lightpush",
        ),
        ("filter_peers = 5\n", "services.filter_peers"),
        (
            "clients = \"read\"\n",
            "\"subscribe\", \"publish\", \"both\"",
        ),
        ("topics_per_client = 2\n", "services.topics_per_client"),
        (
            "rate_limits = \"store:many\"\n",
            "store:100/1m;filter:30/1m",
        ),
        ("sleep_every_s = 3\n", "services.sleep_s"),
        ("sleep_s = 3\n", "services.sleep_s"),
        ("page_size = 3\n", "services.page_size"),
        ("uplink_mbit_per_s = 3\n", "services.downlink_mbit_per_s"),
        ("connection_lost_every_s = 0\n", "more than 0"),
        ("strem_loss = 0.1\n", "stream_loss"),
        (
            "clients = \"subscribe\"\npublish_one_in = 3\n",
            "services.publish_one_in",
        ),
        (
            "[[services.troubles]]\nkind = \"gone\"\npeer = 4\nat_s = 1\nfor_s = 1\n",
            "services.troubles.0.peer",
        ),
        ("[services.flood]\nclients = 20\n", "services.flood"),
    ] {
        let error = text(more);
        assert!(error.contains(expected), "{more}: {error}");
    }
    let without = SERVICES.replace("light_clients = 20\n", "");
    let error = error(&format!("{LEAST}{without}"));
    assert!(error.contains("clients_per_service_node"), "{error}");
}
