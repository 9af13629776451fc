//! What the tests have in common.

use std::path::{Path, PathBuf};
use std::time::Duration;

use undertone_attacks::attacks::Attack;
use undertone_attacks::node;
use undertone_attacks::test_network::Measured;
use undertone_attacks::traffic::Load;
use undertone_attacks::{Tasks, TestNetwork};

/// A few seconds of honest messages.
pub(crate) const SHORT: Load = Load {
    messages: 20,
    interval: Duration::from_millis(100),
    payload_bytes: 1_000,
    patience: Duration::from_secs(10),
    prompt: Duration::from_secs(10),
};

/// The program of the nodes.
pub(crate) fn program() -> PathBuf {
    let program = node::program(Path::new(env!("CARGO_BIN_EXE_hostile")));
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --package undertone`, or run `cargo xtask test --only hostile`",
        program.display()
    );
    program
}

/// The honest network, with the attack under way.
pub(crate) async fn attacked(attack: &Attack) -> (TestNetwork, Tasks) {
    attack.stage(&program(), true).await.unwrap()
}

/// Runs an attack in short.
pub(crate) async fn measured(attack: &Attack, newcomers: u32) -> Measured {
    let (mut stage, tasks) = attacked(attack).await;
    let measured = stage.measure(&SHORT, newcomers).await;
    drop(tasks);
    measured
}

/// Every message arrived, and no honest node thinks ill of another.
pub(crate) fn unharmed(measured: &Measured) {
    let arrived = &measured.arrived;
    assert!(
        arrived.is_complete(),
        "{} of {} messages arrived; last in trouble: {}; lowest score {:?}",
        arrived.delivered,
        arrived.sent,
        arrived
            .last_troubled
            .as_ref()
            .map_or_else(|| "none".to_owned(), ToString::to_string),
        measured.lowest_score
    );
    let lowest = measured.lowest_score.unwrap_or(0.0);
    assert!(
        lowest >= 0.0,
        "an honest node has a score of {lowest} of another"
    );
    assert_eq!(measured.newcomers_in, measured.newcomers_tried, "newcomers");
    for counted in &measured.counted {
        assert!(counted.is_good(), "{counted:?}");
    }
}
