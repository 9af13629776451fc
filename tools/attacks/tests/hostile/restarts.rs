//! The restart matrix without down time; all times are in the campaign.

use std::time::Duration;

use undertone_attacks::matrix::{Way, cell};

use crate::support::program;

/// Generous, because the machine is busy with other tests.
const PROMPT: Duration = Duration::from_secs(5);

async fn comes_back(way: Way) {
    let cell = cell(&program(), way, 0, PROMPT).await.unwrap();
    assert!(cell.is_good(), "{cell:?}");
}

#[tokio::test]
async fn restart_after_sigterm() {
    comes_back(Way::Terminated).await;
}

#[tokio::test]
async fn restart_after_sigkill() {
    comes_back(Way::Killed).await;
}

#[tokio::test]
async fn restart_after_suspend() {
    comes_back(Way::Suspended).await;
}

#[tokio::test]
async fn restart_after_a_change_of_address() {
    comes_back(Way::AddressChanged).await;
}

#[tokio::test]
async fn restart_after_power_loss() {
    comes_back(Way::PowerLost).await;
}
