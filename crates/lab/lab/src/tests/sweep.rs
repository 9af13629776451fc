use std::collections::BTreeSet;
use std::path::Path;

use undertone_sim::{RunOptions, run};

use super::points::SweepShard;
use super::*;
use crate::report::{Stopwatch, Summary};

fn sweep(text: &str) -> Result<Sweep, SweepError> {
    Sweep::parse(text, "s.toml", Path::new("files"))
}

fn values(text: &str) -> Vec<Vec<String>> {
    let points = sweep(text).unwrap().points().unwrap();
    points.into_iter().map(|point| point.values).collect()
}

const SMALL: &str = "[sweep]\nscenario = \"small\"\nset = [\"scenario.nodes=20\", \"topology.dials=4\"]\nseeds = \"1..3\"\n";

#[test]
fn a_grid_has_every_combination() {
    let text = format!(
        "{SMALL}[keys]\n\"network.loss\" = [0, 0.01]\nrelay.strategy = [\"eager-mesh\", \"flood\"]\n\
         traffic.payload_bytes = {{ from = 1000, to = 100000, steps = 3, scale = \"log\" }}\n"
    );
    let sweep = sweep(&text).unwrap();
    assert_eq!(sweep.seeds, [1, 2, 3]);
    let keys: Vec<&str> = sweep.axes.iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(
        keys,
        ["network.loss", "relay.strategy", "traffic.payload_bytes"]
    );
    let points = sweep.points().unwrap();
    assert_eq!(points.len(), 2 * 2 * 3);
    assert_eq!(points[0].values, ["0", "eager-mesh", "1000"]);
    assert_eq!(points[1].values[2], "10000");
    assert_eq!(points[11].values, ["0.01", "flood", "100000"]);
    assert_eq!(points[11].set[0], "scenario.nodes=20");
    let scenario = &points[11].loaded.scenario;
    assert_eq!((scenario.nodes, scenario.network.loss), (20, 0.01));
    assert_eq!(scenario.traffic.payload_bytes, [100_000]);
}

#[test]
fn variants_set_several_keys_at_once_under_a_name() {
    let text = format!(
        "{SMALL}[keys]\nnetwork.loss = [0, 0.01]\n[[keys.mesh]]\nname = \"thin\"\nrelay.d = 4\nrelay.d_out = 2\n\
         [[keys.mesh]]\nname = \"thick\"\nrelay = {{ d = 8 }}\nnetwork.one_way_ms = \"\"\n\
         network.min_one_way_ms = 5\nnetwork.max_one_way_ms = 9\n"
    );
    let sweep = sweep(&text).unwrap();
    let points = sweep.points().unwrap();
    let values: Vec<_> = points.iter().map(|point| point.values.join(" ")).collect();
    assert_eq!(values, ["thin 0", "thin 0.01", "thick 0", "thick 0.01"]);
    assert_eq!(
        points[0].set[2..],
        ["relay.d=4", "relay.d_out=2", "network.loss=0"]
    );
    assert_eq!(
        points[2].set[2..6],
        [
            "network.max_one_way_ms=9",
            "network.min_one_way_ms=5",
            "network.one_way_ms=",
            "relay.d=8"
        ]
    );
    let degrees = &points[2].loaded.scenario.relay.gossip.degrees;
    assert_eq!((degrees.d, degrees.d_out), (8, 3));
}

#[test]
fn samples_are_drawn_from_the_ranges_and_repeat_with_their_seed() {
    let sample = |kind: &str, seed: u32| {
        let text = format!(
            "{SMALL}sample = \"{kind}\"\npoints = 20\nsample_seed = {seed}\n[keys]\n\
             network.loss = {{ from = 0.0, to = 0.2 }}\nrelay.d_lazy = {{ from = 1, to = 21 }}\n\
             relay.flood_publish = [\"on\", \"off\"]\n"
        );
        values(&text)
    };
    for kind in ["random", "latin-hypercube"] {
        let points = sample(kind, 1);
        assert_eq!(points.len(), 20);
        assert_eq!(sample(kind, 1), points);
        assert_ne!(sample(kind, 2), points);
        for point in &points {
            let loss: f64 = point[0].parse().unwrap();
            assert!((0.0..0.2).contains(&loss), "{loss}");
            let d_lazy: u32 = point[1].parse().unwrap();
            assert!((1..=21).contains(&d_lazy), "{d_lazy}");
        }
    }
    // Each of twenty parts of a range has one value, and each word as many points.
    let points = sample("latin-hypercube", 1);
    let parts: BTreeSet<u32> = points
        .iter()
        .map(|point| (point[0].parse::<f64>().unwrap() * 100.0) as u32)
        .collect();
    assert_eq!(parts.len(), 20);
    let on = points.iter().filter(|point| point[2] == "on");
    assert_eq!(on.count(), 10);
}

#[test]
fn mistakes_name_the_line_and_the_point() {
    for (text, message) in [
        (
            "[sweep]\n",
            "s.toml:1: sweep.scenario is missing: expected the name of a scenario, or the path of a file",
        ),
        (
            "[sweep]\nscenario = \"small\"\n",
            "s.toml:1: keys is missing: expected a table [keys] of keys with their values",
        ),
        (
            "[sweep]\nscenario = \"small\"\nseeds = \"5..1\"\n[keys]\n",
            "s.toml:3: sweep.seeds: \"5..1\" is empty: the first seed of a range must not exceed the last",
        ),
        (
            "[sweep]\nscenario = \"small\"\npoints = 5\n[keys]\n",
            "s.toml:3: sweep.points has no effect here: another kind of sweep.sample would use it",
        ),
        (
            "[sweep]\nscenario = \"small\"\n[keys]\nrelay.d = 7\n",
            "s.toml:4: relay.d = 7: expected a list of values, or a range { from, to, … }",
        ),
        (
            "[sweep]\nscenario = \"small\"\n[keys]\nrelay.d = { from = 4, to = 6 }\n",
            "s.toml:4: keys.relay.d.steps is missing: expected a number of values, 2 to 10000",
        ),
        (
            "[sweep]\nscenario = \"small\"\nsample = \"random\"\npoints = 3\n[keys]\nrelay.d = { from = 4, to = 6, steps = 2 }\n",
            "s.toml:6: keys.relay.d.steps has no effect here: a sample has as many values as points",
        ),
        (
            "[sweep]\nscenario = \"small\"\n[keys]\nmesh = [{ name = \"a\", relay.d = 5 },\n{ name = \"a\" }]\n",
            "s.toml:5: mesh = a table: expected variants, each a table with a name of its own and the keys that it sets",
        ),
    ] {
        assert_eq!(sweep(text).unwrap_err().to_string(), message);
    }
    let points = |keys: &str| sweep(&format!("{SMALL}[keys]\n{keys}")).unwrap().points();
    assert_eq!(
        points("network.loss = [0, 2]").unwrap_err().to_string(),
        "--set network.loss=2: network.loss = 2: expected a number from 0 to 1"
    );
    let large = points(
        "relay.d = { from = 1, to = 2, steps = 9999 }\nrelay.d_low = { from = 1, to = 2, steps = 99 }\n",
    );
    assert_eq!(
        large.unwrap_err().to_string(),
        "the grid has 989901 points; at most 100000 are run"
    );
}

#[test]
fn every_run_belongs_to_one_part() {
    let parts: Vec<SweepShard> = ["1/3", "2/3", "3/3"]
        .map(|text| text.parse().unwrap())
        .into();
    for run in 0..20 {
        assert_eq!(parts.iter().filter(|part| part.has(run)).count(), 1);
        assert!(SweepShard::WHOLE.has(run));
    }
    for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0"] {
        let error = wrong.parse::<SweepShard>().unwrap_err().to_string();
        assert!(error.contains("expected I/N"), "{error}");
    }
}

#[test]
fn a_band_is_where_the_median_lies() {
    assert_eq!(median_band(&[]), None);
    let alone = median_band(&[5.0]).unwrap();
    assert_eq!((alone.median, alone.low, alone.high), (5.0, None, None));
    let same = median_band(&[2.0; 9]).unwrap();
    assert_eq!(
        (same.median, same.low, same.high),
        (2.0, Some(2.0), Some(2.0))
    );
    let values: Vec<f64> = (1..=101).map(f64::from).collect();
    let band = median_band(&values).unwrap();
    assert_eq!(band.median, 51.0);
    // The binomial interval of the median of 101 values is from the 41st to the 61st.
    let (low, high) = (band.low.unwrap(), band.high.unwrap());
    assert!(
        (39.0..=44.0).contains(&low) && (58.0..=63.0).contains(&high),
        "{band:?}"
    );
    assert_eq!(median_band(&values), Some(band));
}

#[test]
fn a_run_is_found_again_by_what_was_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = SweepFolder::open(&folder.path().join("new")).unwrap();
    let text = format!("{SMALL}[keys]\nrelay.d = [6, 7]\n");
    let points = sweep(&text).unwrap().points().unwrap();
    let names: BTreeSet<String> = points
        .iter()
        .flat_map(|point| {
            let resolved = &point.loaded.resolved;
            [(1, "v"), (2, "v"), (1, "w")].map(|(seed, version)| run_name(resolved, seed, version))
        })
        .collect();
    assert_eq!(names.len(), 6);
    let point = &points[0].loaded;
    let name = run_name(&point.resolved, 1, "v");
    assert_eq!(folder.figures(&name), None);
    let watch = Stopwatch::start();
    let outcome = run(&point.scenario, RunOptions::new(1), &mut |_| {}).unwrap();
    let summary = Summary::new(&point.scenario, &outcome, watch.read(), "v");
    let summary = summary.resolved(point.resolved.clone());
    let written = folder.write(&name, &outcome, &summary).unwrap();
    assert_eq!(folder.figures(&name), Some(written.clone()));
    assert_eq!((written.expected, written.delivered), (3 * 19, 3 * 19));
    assert_eq!(written.failure(), None);
    // What a killed process leaves is not taken for a run.
    std::fs::write(folder.file("half"), b"PAR1").unwrap();
    assert_eq!(folder.figures("half"), None);

    let mut table = SweepTable::new(vec!["relay.d".to_owned(), "a,b".to_owned()]);
    table.push(
        vec!["6".to_owned(), "\"x\"".to_owned()],
        &[written.clone(), written],
    );
    table.push(vec!["7".to_owned(), "y".to_owned()], &[]);
    let csv = table.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("relay.d,\"a,b\",runs,delivered_share,delivered_share_low,"),
        "{csv}"
    );
    assert!(lines[1].starts_with("6,\"\"\"x\"\"\",2,1,1,1,"), "{csv}");
    assert_eq!(lines[2], "7,y,0,,,,,,,,,,,,,,,,,,");
    assert!(table.to_string().contains("delivered_share"));

    let mut drawn = table.in_words().drawn();
    let wide = drawn.to_string();
    assert!(wide.lines().any(|line| line.chars().count() > 60));
    let narrow = drawn.set_width(60).to_string();
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
}

#[test]
fn a_run_fails_by_a_rule_or_without_a_delivery() {
    let mut figures = RunFigures {
        expected: 10,
        delivered: 0,
        p50_ms: None,
        p95_ms: None,
        max_ms: None,
        copies: None,
        wire_bytes: 5,
        light_delivered: None,
        violations: Vec::new(),
    };
    assert_eq!(figures.failure().unwrap(), "none of 10 deliveries was made");
    figures.light_delivered = Some(1);
    assert_eq!(figures.failure(), None);
    figures.violations = vec!["a rule".to_owned()];
    assert_eq!(
        figures.failure().unwrap(),
        "1 rules did not hold, the first a rule"
    );
}
