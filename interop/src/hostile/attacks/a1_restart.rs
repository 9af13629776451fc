//! Number 1: a restart in good order, two seconds long, of a node with eight shards.

use std::time::Duration;

use futures::FutureExt as _;

use super::{Attack, Price, nothing};
use crate::hostile::stage::Ways;
use crate::hostile::{StageOptions, Tasks};

/// Between SIGTERM and the next start.
const DOWN: Duration = Duration::from_secs(2);
/// How long the node has after its start before messages are counted.
const BACK: Duration = Duration::from_secs(5);

/// The attack.
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

/// All shards, and messages both ways.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        shards: 8,
        honest: 2,
        ways: Ways::Both,
        ..StageOptions::default()
    }
}
