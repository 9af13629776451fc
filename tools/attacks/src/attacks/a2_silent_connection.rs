//! Attack 2: a client loses its address and dials again, while its old connection stays open.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;

use super::{Attack, Price, nothing};
use crate::test_network::Ways;
use crate::{StageOptions, Tasks};

/// Address of the client after the change.
const NEW_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 4, 1);
/// Time for the client to dial again before messages are counted.
const BACK: Duration = Duration::from_secs(5);
/// Further time until the dead connection ends.
const DEAD: Duration = Duration::from_secs(4);

/// Attack a2: a silent connection.
pub const ATTACK: Attack = Attack {
    name: "a2-silent-connection",
    about: "a client's connection dies without a word, it dials again at once; the dead one ends 9 s later",
    price: Price::Nothing,
    options,
    start: |stage| {
        async {
            let proxy = stage.proxy.as_ref().expect("the reader is behind a proxy");
            proxy.set_source(NEW_ADDRESS);
            proxy.cut();
            tokio::time::sleep(BACK).await;
            let ender = proxy.ender();
            let mut tasks = Tasks::default();
            tasks.spawn(async move {
                tokio::time::sleep(DEAD).await;
                ender.end_silent();
            });
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Returns a network whose reader publishes too.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        shards: 8,
        ways: Ways::Both,
        ..StageOptions::default()
    }
}
