//! The configuration of a node: a file, and a variable of the environment for each further line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_node::config::{NodeConfig, Sources, explain};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let (file, variables) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut sources = Sources::default();
    sources.text = Some(file.to_owned());
    let pairs = variables.lines().filter_map(|line| line.split_once('='));
    sources.environment = pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    if let Err(error) = NodeConfig::load(&sources) {
        assert!(!error.to_string().is_empty());
    }
    let _ = explain(&sources);
});
