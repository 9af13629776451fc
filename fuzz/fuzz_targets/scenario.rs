//! Files of the laboratory, by the first byte: scenarios and sweeps. None of them may refer to other files here.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::Reader;
use undertone_lab::scenario;
use undertone_lab::sweep::Sweep;

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let kind = reader.byte();
    let Ok(text) = str::from_utf8(reader.rest()) else {
        return;
    };
    match kind % 2 {
        0 => {
            let _ = scenario::parse(text, "file.toml", "name", None, &[]);
        }
        _ => {
            let _ = Sweep::parse(text, "file.toml", Path::new("/nonexistent"));
        }
    }
});
