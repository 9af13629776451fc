//! A scenario that is over in seconds.

use std::path::Path;
use std::process::{Command, Stdio};

/// Three nodes in a line, 20 ms apart, with proofs; two messages.
pub(crate) const SCENARIO: &str = r#"
[scenario]
nodes = 3
start_spread_s = 0
[topology]
kind = "line"
[network]
one_way_ms = 20
uplink_mbit_per_s = 100
downlink_mbit_per_s = 100
setup_packets = 16
[relay]
d = 2
d_low = 2
d_out = 0
[rln]
generation_ms = 200
verification_ms = 5
[traffic]
messages = 2
payload_bytes = 2000
first_s = 1
spacing_s = 1
drain_s = 2
"#;

/// The program with the scenario, its temporary files below `folder`.
pub(crate) fn testbed(folder: &Path) -> Command {
    testbed_of(SCENARIO, folder)
}

/// The program with another scenario, `scenario.toml` in that folder.
pub(crate) fn testbed_of(scenario: &str, folder: &Path) -> Command {
    let file = folder.join("scenario.toml");
    std::fs::write(&file, scenario).expect("the folder is the test's own");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.arg("testbed").arg(file).arg("--json");
    command.env("TMPDIR", folder).stdin(Stdio::null());
    command
}
