use std::collections::BTreeSet;
use std::fs::{self, File};
use std::ops::ControlFlow;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::{DATASETS, DatasetChoice, write_datasets};
use crate::run::{FinishedRun, RunRequest};
use crate::scenario;

fn small(datasets: DatasetChoice) -> FinishedRun {
    let loaded = scenario::load("small", &[]).unwrap();
    let request = RunRequest {
        loaded: &loaded,
        seed: 1,
        threads: 1,
        commit: "test",
        datasets,
    };
    request.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

fn all() -> DatasetChoice {
    let mut choice = DatasetChoice::default();
    assert!(DATASETS.iter().all(|(name, _)| choice.add(name)));
    assert!(!choice.add("copy"));
    choice
}

#[test]
fn every_dataset_is_a_file_that_says_what_was_run() {
    let run = small(all());
    let folder = tempfile::tempdir().unwrap();
    write_datasets(folder.path(), &run.outcome, &run.summary, &all()).unwrap();
    let open = |name: &str| {
        let file = File::open(folder.path().join(format!("{name}.parquet"))).unwrap();
        SerializedFileReader::new(file).unwrap()
    };
    for (name, _) in DATASETS {
        let reader = open(name);
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.schema().name(), name);
        let known = metadata.key_value_metadata().unwrap();
        let trace = known.iter().find(|k| k.key == "undertone.trace_hash");
        assert_eq!(trace.unwrap().value, run.summary.trace_hash, "{name}");
    }
    let copies = open("copies");
    let rows: Vec<_> = copies
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let firsts = rows.iter().filter(|row| row.get_bool(5).unwrap()).count();
    assert_eq!(firsts as u64, run.summary.delivered);
    assert_eq!(rows.len() as u64, run.summary.bytes.kinds["messages"].count);
    assert_eq!(open("nodes").metadata().file_metadata().num_rows(), 50);
    let traffic = open("traffic");
    let rows = traffic.get_row_iter(None).unwrap().map(Result::unwrap);
    let kinds: BTreeSet<String> = rows.map(|row| row.get_string(1).unwrap().clone()).collect();
    assert!(
        kinds.contains("messages") && kinds.contains("graft"),
        "{kinds:?}"
    );
}

#[test]
fn datasets_have_stable_columns() {
    let tables = all().tables(&small(all()).outcome);
    let columns: Vec<String> = tables
        .iter()
        .map(|table| {
            let names: Vec<&str> = table
                .columns
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            format!("{}: {}", table.name, names.join(" "))
        })
        .collect();
    assert_eq!(
        columns,
        [
            "copies: message fragment from to hops is_first size_bytes copy_bytes warm_up sent_ns received_ns",
            "links: from to frames bytes messages message_bytes control control_bytes",
            "nodes: node connections first_copies duplicates wire_sent_bytes wire_received_bytes packets_dropped \
             messages_sent messages_sent_bytes subscriptions_sent subscriptions_sent_bytes graft_sent graft_sent_bytes \
             prune_sent prune_sent_bytes ihave_sent ihave_sent_bytes iwant_sent iwant_sent_bytes idontwant_sent \
             idontwant_sent_bytes",
            "traffic: from_ns kind sent sent_bytes",
        ]
    );
}

#[test]
fn what_is_not_asked_for_is_neither_recorded_nor_written() {
    let run = small(DatasetChoice::default());
    assert_eq!(run.outcome.recorded, None);
    let folder = tempfile::tempdir().unwrap();
    let choice = DatasetChoice::default();
    write_datasets(folder.path(), &run.outcome, &run.summary, &choice).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(run.summary.trace_hash, small(all()).summary.trace_hash);
}
