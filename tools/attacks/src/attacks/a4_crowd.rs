//! Attack 4: many identities come and go at the address of the honest nodes.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;

use super::{Attack, Price, nothing};
use crate::peer::Peer;
use crate::test_network::{Meeting, honest_ip};
use crate::{HostileError, StageOptions, Tasks, TestNetwork};

/// Number of strangers at the address.
const IDENTITIES: usize = 25;
/// Time that the strangers stay connected.
const STAY: Duration = Duration::from_secs(3);

/// Attack a4: a crowd of identities at one address.
pub const ATTACK: Attack = Attack {
    name: "a4-crowd",
    about: "25 identities for 3 s at the address of the two honest neighbours; messages from then on",
    price: Price::Nothing,
    options,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let (target, topics) = (stage.victim.target(), stage.topics());
    let crowd = join_all((0..IDENTITIES).map(|_| async {
        let mut peer = Peer::connect(honest_ip(0), target).await.ok()?;
        peer.subscribe(&topics).await;
        Some(peer)
    }))
    .await;
    tokio::time::sleep(STAY).await;
    drop(crowd);
    tokio::time::sleep(STAY).await;
    Ok(Tasks::default())
}

/// Returns a network of two honest neighbours at one address, which dial the victim.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        honest: 2,
        has_one_address: true,
        meeting: Meeting::HonestDial,
        ..StageOptions::default()
    }
}
