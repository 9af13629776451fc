//! Tests of the benchmarks over short runs. Their peers are programs of `tools/conformance`, which the step `interop` of
//! `cargo xtask test` builds in the same call.

mod line;
mod lines;

use std::path::Path;

/// Command line of a peer with short heartbeats.
fn peer(name: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_bench")).with_file_name(name);
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --package undertone-conformance`, or run `cargo xtask test --only interop`",
        program.display()
    );
    format!("{} --heartbeat-ms 200", program.display())
}
