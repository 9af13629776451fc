//! Attack 1: an orderly restart, with two seconds of down time, of a node with eight shards.

use std::time::Duration;

use futures::FutureExt as _;

use super::{Attack, Price, nothing};
use crate::test_network::Ways;
use crate::{StageOptions, Tasks};

/// Down time between the node's end and its next start.
const DOWN: Duration = Duration::from_secs(2);
/// Time between the node's restart and the first counted message.
const BACK: Duration = Duration::from_secs(5);

/// Attack a1: restart of the victim.
pub const ATTACK: Attack = Attack {
    name: "a1-restart",
    about: "SIGTERM, start 2 s later; 8 shards; messages from 5 s after the start on",
    price: Price::Nothing,
    options,
    start: |stage| {
        async {
            stage.victim.terminate().await;
            tokio::time::sleep(DOWN).await;
            stage.victim.launch().await?;
            tokio::time::sleep(BACK).await;
            Ok(Tasks::default())
        }
        .boxed()
    },
    then: nothing,
};

/// Returns a network with all shards and with messages both ways.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        shards: 8,
        honest: 2,
        ways: Ways::Both,
        ..StageOptions::default()
    }
}
