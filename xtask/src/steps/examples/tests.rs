use std::fs;

use super::*;

/// Programs that stand among the examples because they measure or make files: they need arguments or a chain.
const TOOLS: [&str; 7] = [
    "gas",
    "idle_traffic",
    "page",
    "row_tables",
    "sync",
    "throughput",
    "versus_zerokit",
];

#[test]
fn every_example_is_run_or_a_tool() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = Vec::new();
    for package in fs::read_dir(crates).unwrap() {
        let Ok(examples) = fs::read_dir(package.unwrap().path().join("examples")) else {
            continue;
        };
        for example in examples {
            let name = example.unwrap().file_name().to_string_lossy().into_owned();
            found.push(name.trim_end_matches(".rs").to_owned());
        }
    }
    found.sort_unstable();
    let mut known = [RUN, &TOOLS].concat();
    known.sort_unstable();
    assert_eq!(found, known);
}
