//! Deployments of the reference node, by the first byte: a script of flags, a compose file, a TOML file, each with variables.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, file};
use undertone_migrate::{Migration, NwakuSources};

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let kind = reader.byte();
    let text = reader.rest();
    let (text, variables) = match text.windows(5).position(|part| part == b"\n---\n") {
        Some(at) => (&text[..at], &text[at + 5..]),
        None => (text, &[][..]),
    };
    let source = Some(file("source", text));
    let mut sources = NwakuSources::default();
    sources.output = PathBuf::from("/nonexistent/output");
    sources.env = Some(file("variables", variables));
    match kind % 3 {
        0 => sources.flags = source,
        1 => sources.compose = source,
        _ => sources.toml = source,
    }
    if let Err(error) = Migration::read(&sources) {
        assert!(!error.to_string().is_empty());
    }
});
