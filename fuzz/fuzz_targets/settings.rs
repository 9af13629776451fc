//! TOML as settings read it, and the value of an override.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_settings::{Section, TomlEntry};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    match TomlEntry::read(text, "file.toml") {
        Ok(entry) => {
            if let Ok(section) = Section::new(&entry, "", "docs") {
                let _ = section.check_known(&["a"]);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
