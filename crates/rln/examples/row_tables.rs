//! Computes `artefacts/tree_depth_20/row_tables.bin` from the vendored key and writes it to the
//! path given: `cargo run --release -p undertone-rln --example row_tables -- <path>`.

use std::path::PathBuf;
use std::process::ExitCode;

use undertone_rln::key::derive_row_tables;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: row_tables <path of the file to write>");
        return ExitCode::FAILURE;
    };
    let bytes = match derive_row_tables() {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match std::fs::write(&path, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
