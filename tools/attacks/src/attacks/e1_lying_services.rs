//! Attack e1: a stranger that dials in, offers store and lightpush, and lies.

use futures::FutureExt as _;
use libp2p::identity::Keypair;

use super::{Attack, Price, nothing, with_services};
use crate::raw::LyingServices;
use crate::{HostileError, Tasks, TestNetwork};

/// Attack e1: services that lie.
pub const ATTACK: Attack = Attack {
    name: "e1-lying-services",
    about: "a peer dials in and offers store and lightpush: history is empty, and it sent messages to 5 peers",
    price: Price::Nothing,
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    // The peer id of an Ed25519 key sorts before those of nodes.
    let key = Keypair::generate_ed25519();
    let liar = LyingServices::dial(key, &stage.victim.addr()).await?;
    let mut tasks = Tasks::default();
    tasks.spawn(async move {
        let _liar = liar;
        std::future::pending::<()>().await;
    });
    Ok(tasks)
}
