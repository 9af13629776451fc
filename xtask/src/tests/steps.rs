use std::path::Path;

use super::*;
use crate::campaigns::CAMPAIGNS;
use crate::sources;
use crate::workspace::{Metadata, Target, metadata};

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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn of_kind<'a>(metadata: &'a Metadata, kind: &str) -> Vec<&'a Target> {
    let targets = metadata
        .packages
        .iter()
        .flat_map(|package| &package.targets);
    targets
        .filter(|target| target.kind.iter().any(|found| found == kind))
        .collect()
}

fn lines() -> impl Iterator<Item = &'static str> {
    let steps = STEPS
        .iter()
        .flat_map(|step| step.commands)
        .map(|command| command.line);
    steps.chain(
        CAMPAIGNS
            .iter()
            .flat_map(|campaign| campaign.commands)
            .copied(),
    )
}

/// Names of the test programs that a command line selects.
fn selected(line: &str) -> Vec<&str> {
    let words: Vec<_> = line.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == "--test");
    pairs
        .map(|pair| pair[1])
        .filter(|name| *name != "'*'")
        .collect()
}

/// Filters of test names in a command line: words after the two dashes.
fn filters(line: &str) -> Vec<&str> {
    let is_test = line.contains("cargo test ");
    let (_, words) = line
        .split_once(" -- ")
        .filter(|_| is_test)
        .unwrap_or_default();
    words
        .split_whitespace()
        .filter(|word| !word.starts_with("--"))
        .collect()
}

#[test]
fn steps_run_every_test_program_that_cargo_test_leaves_out() {
    let metadata = metadata(root()).unwrap();
    let tests = of_kind(&metadata, "test");
    let named: Vec<_> = lines().flat_map(selected).collect();
    for test in tests.iter().filter(|test| !test.test) {
        assert!(
            named.contains(&test.name.as_str()),
            "no step runs {}",
            test.name
        );
    }
    for name in named {
        assert!(
            tests.iter().any(|test| test.name == name),
            "no test program is called {name}"
        );
    }
}

/// A filter that matches no test passes without running anything.
#[test]
fn filters_name_tests_that_are_there() {
    let sources = sources::all(root()).unwrap();
    for filter in lines().flat_map(filters) {
        let name = filter.trim_end_matches("::");
        let is_there = |kind: &str| {
            let item = format!("{kind} {name}");
            sources.iter().any(|source| source.text.contains(&item))
        };
        assert!(is_there("mod") || is_there("fn"), "{filter}");
    }
}

#[test]
fn every_example_is_run_or_a_tool() {
    let metadata = metadata(root()).unwrap();
    let run: String = lines().map(|line| format!("{line}\n")).collect();
    for example in of_kind(&metadata, "example") {
        let is_run = run.contains(&format!("examples/{}\n", example.name));
        let is_tool = TOOLS.contains(&example.name.as_str());
        assert!(is_run != is_tool, "{}", example.name);
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), STEPS.len());
}
