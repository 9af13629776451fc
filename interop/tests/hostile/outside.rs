//! Section E: a clock that leads a node astray.

use undertone_interop::hostile::attacks::e2_clock_jump;

use crate::support::{measured, unharmed};

#[tokio::test]
async fn e2_a_clock_that_jumps_ahead_deletes_nothing() {
    let measured = measured(&e2_clock_jump::ATTACK, 1).await;
    assert_eq!(measured.counted.len(), 1);
    unharmed(&measured);
}
