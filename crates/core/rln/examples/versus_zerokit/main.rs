//! Comparison with zerokit 3.0.0, in one process on the same work: one thread, processor time,
//! medians.
//!
//! `cargo run --profile dist -p undertone-rln --example versus_zerokit` prints a table, `... --
//! --json` the same figures as one JSON object. A ratio is zerokit's time divided by ours.

use std::process::{Command, ExitCode};

mod clock;
mod prover;
mod report;
mod tree;
mod verifier;

/// Environment variable with the size of rayon's pool, on which zerokit computes.
const POOL: &str = "RAYON_NUM_THREADS";

fn main() -> ExitCode {
    let json = std::env::args().any(|argument| argument == "--json");
    if std::env::var(POOL).as_deref() != Ok("1") {
        return again_with_one_thread();
    }
    let prover = prover::measure();
    let verifier = verifier::measure();
    let tree = tree::measure();
    let report = report::Report::new(&prover, verifier, &tree);
    match json {
        true => println!("{}", serde_json::json!(report)),
        false => report.print(&prover),
    }
    ExitCode::SUCCESS
}

fn again_with_one_thread() -> ExitCode {
    let own = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(POOL, "1")
            .status()
    });
    match own {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot start this program again with {POOL}=1: {error}");
            ExitCode::FAILURE
        }
    }
}
