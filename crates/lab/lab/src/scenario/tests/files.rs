//! Tests of the scenario files in the repository.

use std::fs;
use std::path::Path;

use undertone_gossip::FloodPublish;
use undertone_sim::scenario::{
    Delay, Publishers, Qdisc, Spacing, TcpProfile, Topology, Verification,
};

use super::super::{BUILT_IN, load};

#[test]
fn every_file_is_built_in_and_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios");
    let mut on_disk: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    on_disk.sort();
    let mut built_in: Vec<_> = BUILT_IN.iter().map(|found| found.name).collect();
    built_in.sort_unstable();
    assert_eq!(on_disk, built_in);
    for name in built_in {
        let from_name = load(name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let path = folder.join(format!("{name}.toml"));
        let from_path = load(path.to_str().unwrap(), &[]).unwrap();
        let [by_name, by_path] =
            [&from_name, &from_path].map(|loaded| format!("{:?}", loaded.scenario));
        assert_eq!(by_name, by_path);
        assert_eq!(from_name.resolved.parameters, from_path.resolved.parameters);
        assert_eq!(from_name.relay_parameters, from_path.relay_parameters);
        assert_eq!(from_name.scenario.name, name);
        assert!(!from_name.description.is_empty(), "{name}");
    }
}

#[test]
fn the_papers_runs_are_as_run() {
    for (name, one_way_ms, bytes) in [
        ("paper-2kb", 75, 2_000),
        ("paper-25kb", 150, 25_000),
        ("paper-100kb", 150, 100_000),
        ("paper-500kb", 150, 500_000),
    ] {
        let scenario = load(name, &[]).unwrap().scenario;
        assert_eq!(scenario.nodes, 1_000);
        assert_eq!(scenario.topology, Topology::Dials(25));
        let network = &scenario.network;
        assert_eq!(network.uplink_bytes_per_s, 12_500_000);
        assert_eq!(network.downlink_bytes_per_s, 12_500_000);
        assert_eq!(network.unlimited_until_ns, 30_000_000_000);
        let one_way_ns = one_way_ms * 1_000_000;
        assert_eq!(network.delay, Delay::Constant { one_way_ns });
        assert_eq!(network.tcp, TcpProfile::Shadow);
        let queue = Qdisc::CoDel {
            target_ns: 10_000_000,
            interval_ns: 100_000_000,
        };
        assert_eq!(network.queue, queue);
        let gossip = &scenario.relay.gossip;
        let degrees = &gossip.degrees;
        assert_eq!((degrees.d, degrees.d_low, degrees.d_high), (6, 4, 8));
        assert_eq!(gossip.flood_publish, FloodPublish::On);
        assert_eq!(gossip.idontwant_threshold_bytes, usize::MAX, "none");
        let rln = scenario.rln.unwrap();
        assert_eq!(rln.generation_ns, 276_300_000);
        assert_eq!(rln.verification, Verification::Wait { ns: 4_500_000 });
        let traffic = &scenario.traffic;
        assert_eq!(traffic.publishers, Publishers::One(0));
        assert_eq!((traffic.messages, scenario.warm_up_messages), (10, 1));
        assert_eq!(traffic.payload_bytes, [bytes]);
        assert_eq!(traffic.first_ns, 60_000_000_000);
        assert_eq!(traffic.spacing, Spacing::Constant(10_000_000_000));
        assert_eq!(scenario.start_ns, 5_000_000_000);
    }
}

/// Corrected readings differ from the run only in the property that their name states.
#[test]
fn corrected_readings_change_one_thing() {
    for (name, as_run, overrides) in [
        (
            "paper-2kb-150ms",
            "paper-2kb",
            vec!["network.one_way_ms=150"],
        ),
        (
            "paper-500kb-75ms",
            "paper-500kb",
            vec!["network.one_way_ms=75"],
        ),
        (
            "paper-25kb-ten-publishers",
            "paper-25kb",
            vec!["traffic.warm_up_messages=0"],
        ),
    ] {
        let mut reading = load(name, &[]).unwrap().scenario;
        let overrides: Vec<_> = overrides.into_iter().map(str::to_owned).collect();
        let run = load(as_run, &overrides).unwrap().scenario;
        reading.name.clone_from(&run.name);
        if name.ends_with("ten-publishers") {
            assert_eq!(reading.traffic.publishers, Publishers::RoundRobin(10));
            reading.traffic.publishers = Publishers::One(0);
        }
        assert_eq!(format!("{reading:?}"), format!("{run:?}"));
    }
}

#[test]
fn the_cities_halve_the_published_round_trips() {
    let scenario = load("cities-line", &[]).unwrap().scenario;
    let Delay::Places { one_way_ns } = &scenario.network.delay else {
        panic!("places, not {:?}", scenario.network.delay);
    };
    // Singapore to Bangalore 59 ms, Bangalore to Singapore 60 ms, New York to Frankfurt 90 ms.
    assert_eq!(
        (one_way_ns[0][1], one_way_ns[1][0]),
        (29_500_000, 30_000_000)
    );
    assert_eq!(one_way_ns[3][4], 45_000_000);
    assert_eq!(scenario.topology, Topology::Line);
}

#[test]
fn a_name_that_is_almost_right_is_suggested() {
    let error = |name: &str| load(name, &[]).unwrap_err().to_string();
    assert_eq!(
        error("paper-2k"),
        r#"no scenario is called "paper-2k"; did you mean "paper-2kb"?"#
    );
    assert!(error("xyzzyxyzzy").contains("--list"));
    assert!(error("no/such.toml").starts_with("cannot read no/such.toml: "));
}
