//! Circuits through a relay that is not ours: the library's own behaviours with their defaults.

use std::time::Duration;

use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, SwarmBuilder, identify, noise, ping, relay, tcp, yamux};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::nat::{behind, connect, connected_at, is_relayed, loopback, through, told};
use super::support::{HANG, until_heard};

#[derive(NetworkBehaviour)]
struct RelayServer {
    relay: relay::Behaviour,
    identify: identify::Behaviour,
    ping: ping::Behaviour,
}

/// Relay of rust-libp2p; a drop ends it.
struct ForeignRelay {
    address: Multiaddr,
    events: mpsc::UnboundedReceiver<relay::Event>,
    task: AbortHandle,
}

impl Drop for ForeignRelay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ForeignRelay {
    async fn start() -> Self {
        let behaviour = |key: &Keypair| RelayServer {
            relay: relay::Behaviour::new(key.public().to_peer_id(), relay::Config::default()),
            identify: identify::Behaviour::new(identify::Config::new(
                "/ipfs/0.1.0".to_owned(),
                key.public(),
            )),
            ping: ping::Behaviour::default(),
        };
        let transport = tcp::Config::default();
        let mut swarm = SwarmBuilder::with_new_identity()
            .with_tokio()
            .with_tcp(transport, noise::Config::new, yamux::Config::default)
            .expect("a new key makes a noise configuration")
            .with_behaviour(behaviour)
            .expect("the behaviours have no errors")
            .build();
        swarm
            .listen_on(loopback())
            .expect("loopback has a free port");
        let address = loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                break address;
            }
        };
        // It grants no reservation without an address to tell.
        swarm.add_external_address(address.clone());
        let address = address
            .with_p2p(*swarm.local_peer_id())
            .expect("it has none");
        let (happened, events) = mpsc::unbounded_channel();
        let run = async move {
            loop {
                let event = swarm.select_next_some().await;
                if let SwarmEvent::Behaviour(RelayServerEvent::Relay(event)) = event
                    && happened.send(event).is_err()
                {
                    return;
                }
            }
        };
        let task = tokio::spawn(run).abort_handle();
        Self {
            address,
            events,
            task,
        }
    }

    /// Waits for something that the relay did.
    async fn until(&mut self, is_it: impl Fn(&relay::Event) -> bool) {
        let comes = async { while !is_it(&self.events.recv().await.expect("the relay runs")) {} };
        tokio::time::timeout(HANG, comes).await.expect("it comes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_of_rust_libp2p_leads_to_a_node_that_listens_nowhere() {
    let mut relay = ForeignRelay::start().await;
    let is_reserved =
        |event: &relay::Event| matches!(event, relay::Event::ReservationReqAccepted { .. });
    let hidden = behind(&relay.address, None).await;
    relay.until(is_reserved).await;
    let caller = behind(&relay.address, None).await;
    relay.until(is_reserved).await;
    let circuit = through(&relay.address, hidden.running.peer_id);
    let announced = async {
        while !told(&hidden).await.contains(&circuit) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, announced)
        .await
        .expect("it is announced");
    connect(&caller, circuit).await;
    relay
        .until(|event| matches!(event, relay::Event::CircuitReqAccepted { .. }))
        .await;
    until_heard(&caller, &hidden, HANG).await;
    until_heard(&hidden, &caller, HANG).await;
    let at = connected_at(&caller, hidden.running.peer_id).await;
    assert!(at.is_some_and(|at| is_relayed(&at)));
    for node in [caller, hidden] {
        node.stop().await;
    }
}
