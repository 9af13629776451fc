//! A keystore file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::file;
use undertone_rln::Keystore;

fuzz_target!(|input: &[u8]| {
    let _ = Keystore::read(&file("keystore.json", input));
});
