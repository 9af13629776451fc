//! `undertone sim`, `sweep` and `model` as a user meets them.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

fn undertone(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(line.split_whitespace())
        .output()
        .expect("the program starts")
}

fn succeeded(line: &str) -> String {
    let output = undertone(line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn json(line: &str) -> Value {
    serde_json::from_str(&succeeded(line)).expect("it prints JSON")
}

/// Asserts wrong usage, without output, and that it said this.
fn misused(line: &str, said: &str) {
    let output = undertone(line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
    assert!(output.stdout.is_empty(), "{line}");
    assert!(stderr.contains(said), "{said:?} is not in {stderr}");
}

#[test]
fn the_list_names_every_scenario() {
    let list = json("sim --list --json");
    let scenarios = list["scenarios"].as_array().unwrap();
    let nodes = |name: &str| {
        let found = scenarios.iter().find(|item| item["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {list}"))["nodes"].clone()
    };
    assert_eq!(nodes("paper-2kb"), 1_000);
    assert_eq!(nodes("scale-100k"), 100_000);
    assert_eq!(nodes("scale-1m"), 1_000_000);
    assert!(succeeded("sim --list").contains("The paper, 500 KB, as run"));
}

#[test]
fn seeds_are_drawn_over_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("runs.html");
    let line = format!("sim small --seeds 1..2 --json --html {}", page.display());
    let runs = json(&line);
    let page = fs::read_to_string(&page).unwrap();
    for run in runs["runs"].as_array().unwrap() {
        assert!(page.contains(&format!("seed {}", run["seed"])));
        assert!(page.contains(run["trace_hash"].as_str().unwrap()));
    }
    let nowhere = folder.path().join("no/page.html");
    let output = undertone(&format!("sim small --html {}", nowhere.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/page.html"));
}

#[test]
fn mistakes_are_wrong_usage_and_say_what_was_expected() {
    misused("sim", "required");
    misused("sim papr-2kb", "did you mean \"paper-2kb\"?");
    misused("sim no/such.toml", "cannot read no/such.toml");
    misused(
        "sim small --set network.one_way_msec=3",
        "unknown key \"network.one_way_msec\"; did you mean \"one_way_ms\"?",
    );
    misused(
        "sim small --set relay.d=99",
        "d_low <= d <= d_high must hold",
    );
    misused("sim small --seeds 5..1", "must not exceed the last");
    misused("sim small --seed 1 --seeds 2", "cannot be used with");
    misused(
        "sim small --compare",
        "no figures are published for \"small\"",
    );
    misused("model churn --no-run", "no closed form");
    misused("model --degree 1", "1 is not in 2..=10000");
}

#[test]
fn a_mistake_in_a_file_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, "[scenario]\nnodes = 50\nnoeds = 3\n").unwrap();
    let path = path.display();
    let line = format!("sim {path}");
    misused(
        &line,
        &format!("{path}:3: unknown key \"scenario.noeds\"; did you mean \"nodes\"?"),
    );
}

#[test]
fn the_model_prints_the_equations() {
    let tables = json("model --json");
    assert_eq!(tables["h_max"], 5);
    assert_eq!(tables["figure_2"][0]["h_max"][0], 500, "D = 2");
    let line = json("model --nodes 1000 --degree 2 --json");
    assert_eq!(line["h_max"], 500);
    let text = succeeded("model --nodes 1000 --degree 6 --size 50000");
    assert!(
        text.contains("1000 nodes of degree 6 need 5 hops"),
        "{text}"
    );
    assert!(text.contains("agree where n = H = 5"), "{text}");
}

#[test]
fn the_model_predicts_a_scenario_without_running_it() {
    let predicted = json("model paper-2kb --no-run --json");
    let size = &predicted["sizes"][0];
    assert_eq!(size["size_bytes"], 2_000);
    assert_eq!(size["sim_ms"], Value::Null);
    let mean_ms = size["model_ms"]["mean"].as_f64().unwrap();
    assert!((480.0..530.0).contains(&mean_ms), "{predicted}");
}

#[test]
fn results_say_what_was_run_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.display();
    let first = json(&format!(
        "sim small --set relay.d=7 --set topology.dials=8 --seed 3 --json --out {out}"
    ));
    let resolved = &first["resolved"];
    assert_eq!(resolved["parameters"]["relay"]["d"], 7);
    assert_eq!(resolved["from"]["relay"]["d"], "--set relay.d=7");
    let origin = resolved["from"]["topology"]["kind"].as_str().unwrap();
    assert!(origin.starts_with("scenarios/small.toml:"), "{origin}");
    assert_eq!(resolved["from"]["cpu"]["per_kb_us"], "default");

    let again = json(&format!("sim --from-results {out} --json"));
    assert_eq!(again["trace_hash"], first["trace_hash"]);
    assert_eq!(again["seed"], 3);
    assert_eq!(&again["resolved"], resolved);
    let changed = json(&format!("sim --from-results {out} --set relay.d=6 --json"));
    assert_ne!(changed["trace_hash"], first["trace_hash"]);

    // Another trace of the same scenario and seed is a failure.
    let path = folder.path().join("out/summary.json");
    let text = fs::read_to_string(&path).unwrap();
    let hash = first["trace_hash"].as_str().unwrap();
    fs::write(&path, text.replace(hash, &"0".repeat(64))).unwrap();
    let output = undertone(&format!("sim --from-results {out}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the trace of seed 3 is"), "{stderr}");
    misused(
        "sim --from-results no/such",
        "cannot read no/such/summary.json",
    );
}

#[test]
fn a_run_that_delivers_nothing_is_a_failure() {
    let output = undertone("sim small --set network.loss=1 --set topology.dials=8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("none of 147 deliveries was made with seed 1"),
        "{stderr}"
    );
    let replay = "undertone sim small --set 'network.loss=1' --set 'topology.dials=8' --seed 1";
    assert!(stderr.contains(replay), "{stderr}");
}

#[test]
fn a_run_that_does_not_fit_into_memory_is_announced() {
    // Nothing is run: the seed's run is refused for another reason, after the word.
    let output = undertone(
        "sim small --set scenario.nodes=4000000 --set topology.dials=3000000 --set traffic.payload_bytes=1",
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("GB of memory, and"), "{stderr}");
}

#[test]
fn an_interrupted_run_keeps_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args([
            "sim",
            "small",
            "--set",
            "traffic.drain_s=900000",
            "--json",
            "--out",
        ])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = program.id();
    // It listens for SIGINT, the second bit, before it runs anything.
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(caught.unwrap().trim(), 16).unwrap() & 2 != 0
    };
    while !listens() {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_raw(id.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = program.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["interrupted"], true);
    assert_eq!(printed["trace_hash"], Value::Null);
    let kept = fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), printed);
    assert!(folder.path().join("deliveries.parquet").exists());
}

#[test]
fn a_sweep_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sweep.toml");
    let text = "[sweep]\nscenario = \"small\"\nset = [\"scenario.nodes=10\", \"topology.dials=3\"]\nseeds = \"1..2\"\n\
                [keys]\nnetwork.loss = [0, 1]\nrelay.d_lazy = [4, 6]\n";
    fs::write(&file, text).unwrap();
    let out = folder.path().join("out");
    let sweep = |more: &str| {
        let output = undertone(&format!(
            "sweep {} --out {} --json {more}",
            file.display(),
            out.display()
        ));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let printed: Value = serde_json::from_slice(&output.stdout).expect(&stderr);
        (printed, output.status.code(), stderr)
    };
    let counts =
        |printed: &Value| ["runs", "made", "left"].map(|key| printed[key].as_u64().unwrap());
    assert_eq!(counts(&sweep("--no-run").0), [8, 0, 8]);
    assert_eq!(counts(&sweep("--shard 2/2 --threads 1").0), [8, 4, 4]);
    let (printed, code, stderr) = sweep("");
    assert_eq!(counts(&printed), [8, 4, 0]);
    // Where every packet is lost nothing arrives; the other points are there nevertheless.
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("4 runs failed, the first: none of 27 deliveries"),
        "{stderr}"
    );
    assert!(
        stderr.contains("--set 'network.loss=1' --set 'relay.d_lazy=4' --seed 1"),
        "{stderr}"
    );
    let outside = printed["validity"].as_array().unwrap();
    let loss = outside.iter().find(|outside| outside["rule"] == "loss");
    assert_eq!(loss.unwrap()["runs"], 4, "of the points with losses");
    let page = folder.path().join("sweep.html");
    let (again, ..) = sweep(&format!("--html {}", page.display()));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("p50_ms over network.loss"));
    assert_eq!(
        page.matches("relay.d_lazy 6 ").count(),
        6,
        "a series in each chart"
    );
    assert!(page.contains("packets are lost at random"), "not checked");
    assert_eq!(counts(&again), [8, 0, 0]);
    assert_eq!(again["table"], printed["table"]);
    let row = &printed["table"]["rows"][0];
    assert_eq!((&row["values"][0], &row["runs"]), (&"0".into(), &2.into()));
    assert_eq!(row["figures"][0]["median"], 1.0);
    // What was killed half way is made again, and nothing else.
    let index = fs::read_to_string(out.join("runs.csv")).unwrap();
    let name = index.lines().nth(1).unwrap().split(',').next().unwrap();
    fs::write(out.join(name), "PAR1").unwrap();
    assert_eq!(counts(&sweep("").0), [8, 1, 0]);
    let table = fs::read_to_string(out.join("sweep.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4);
    // Two points that are the same have the same runs.
    fs::write(&file, text.replace("[0, 1]", "[0, 0]")).unwrap();
    assert_eq!(counts(&sweep("").0), [8, 0, 0]);
    fs::write(&file, text.replace("[0, 1]", "[0.001, 0.001]")).unwrap();
    let (printed, code, stderr) = sweep("");
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(counts(&printed), [8, 4, 0]);
}

#[test]
fn datasets_are_written_if_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let line = format!("sim small --json --out {}", out.display());
    let plain = json(&line);
    let files = || {
        let names = fs::read_dir(&out)
            .unwrap()
            .map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(files(), ["deliveries.parquet", "summary.json"]);
    let recorded = json(&format!("{line} --record copies,links,nodes,traffic"));
    assert_eq!(recorded["trace_hash"], plain["trace_hash"]);
    let all = ["copies", "deliveries", "links", "nodes", "traffic"];
    let tables = all.map(|name| format!("{name}.parquet"));
    let mut expected = tables.to_vec();
    expected.insert(4, "summary.json".to_owned());
    assert_eq!(files(), expected);
    for name in tables {
        let bytes = fs::read(out.join(&name)).unwrap();
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{name}"
        );
    }
    misused("sim small --record copies", "--out");
    misused(&format!("{line} --record copy"), "invalid value 'copy'");
    misused(&format!("{line} --record-every-ms 10"), "--record");
}

#[test]
fn a_trace_for_netviz_has_every_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ndjson");
    let run = json(&format!("sim small --json --netviz {}", path.display()));
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    assert_eq!(head["nodes"].as_array().map(Vec::len), Some(50));
    let events: Vec<Value> = lines.collect();
    let count = |kind: &str| events.iter().filter(|event| event[2] == kind).count() as u64;
    assert_eq!(Some(count("dl")), run["delivered"].as_u64());
    assert_eq!(count("pb"), 3, "messages");
    assert_eq!(
        count("ms"),
        count("dl") + count("du"),
        "every copy arrives, new or not"
    );
    misused("sim small --seeds 1..2 --netviz x", "cannot be used with");
}
