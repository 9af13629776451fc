//! Computes the row tables of a circuit from its vendored key and writes them to the given path:
//! `cargo run --release -p undertone-rln --example row_tables -- <path> [circuit]`.

use std::path::PathBuf;
use std::process::ExitCode;

use undertone_rln::circuits::DEPLOYED;
use undertone_rln::key::derive_row_tables;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: row_tables <path of the file to write> [name of the circuit]");
        return ExitCode::FAILURE;
    };
    let circuit = std::env::args().nth(2);
    let bytes = match derive_row_tables(circuit.as_deref().unwrap_or(DEPLOYED)) {
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
