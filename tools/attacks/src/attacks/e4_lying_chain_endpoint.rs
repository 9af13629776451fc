//! Attack e4: the preferred endpoint of a node's chain sends answers that expand to gigabytes in memory, or a byte
//! per second.

use std::fs;
use std::io;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;
use tokio::time::sleep;
use undertone_rln::Identity;

use super::{Attack, Price};
use crate::chain::Chain;
use crate::members::Members;
use crate::node::{Node, wait_until};
use crate::{Counted, HostileError, StageOptions, Tasks, TestNetwork};

/// Files in which the victim stores the state of the chain.
const STORE: [&str; 3] = [
    "rln-chain.sqlite",
    "rln-chain.sqlite-wal",
    "rln-chain.sqlite-shm",
];
/// Time between the victim's restart and the first change of the membership.
const BACK: Duration = Duration::from_secs(5);
/// Number of members registered before messages are published.
const CHANGES: usize = 3;
/// Time limit for the victim to learn of one of them: several requests that time out, each after 10 s.
const FOLLOWED: Duration = Duration::from_secs(45);

/// Attack e4: a chain endpoint that lies.
pub const ATTACK: Attack = Attack {
    name: "e4-lying-chain-endpoint",
    about: "the first of two chain endpoints answers with 48 kB that become 49 MB of numbers, or a byte a second",
    price: Price::Nothing,
    options: || StageOptions {
        rln: true,
        has_chain: true,
        ..StageOptions::default()
    },
    start: |stage| start(stage).boxed(),
    then: |stage| changes(stage).boxed(),
};

/// Restarts the victim with a lying endpoint and without its stored state of the chain.
async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    stage.victim.terminate().await;
    for name in STORE {
        match fs::remove_file(stage.victim.data().join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(HostileError::io("cannot remove a node's chain")(error));
            }
            _ => {}
        }
    }
    let chain = stage.chain.as_ref().expect("the network has a chain");
    chain.lie()?;
    stage.victim.launch().await?;
    sleep(BACK).await;
    // Both kinds of lies have been told, and the memory for the first has been allocated.
    let are_told = wait_until(FOLLOWED, async || chain.told() >= 2).await;
    match are_told {
        true => Ok(Tasks::default()),
        false => Err(HostileError::Late {
            waiting_for: "question to the endpoint that lies".to_owned(),
            deadline_s: FOLLOWED.as_secs(),
        }),
    }
}

/// Registers members, and counts those that the victim learns of. Messages then have proofs for the newest root.
async fn changes(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let members = stage.members.as_ref().expect("the network has members");
    let registry = members.reopen()?;
    let mut good = 0;
    for change in 0..CHANGES {
        let identity = Identity::from_seed(format!("newcomer {change}").as_bytes());
        Members::repeat(&registry, &identity)?;
        let newest = stage.chain.as_ref().map(Chain::newest);
        let victim = &stage.victim;
        let is_followed = wait_until(FOLLOWED, async || block(victim).await == newest);
        good += usize::from(is_followed.await);
    }
    stage.counted.push(Counted {
        what: "changes of the membership that the node followed",
        good,
        of: CHANGES,
    });
    Ok(Tasks::default())
}

/// Returns the newest block that a node has processed.
async fn block(node: &Node) -> Option<u64> {
    let (_, body) = node.ask("GET", "/debug/v1/rln", None).await?;
    let rln: Value = serde_json::from_str(&body).ok()?;
    rln["chain"]["block"].as_u64()
}
