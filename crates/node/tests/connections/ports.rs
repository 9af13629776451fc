//! Ports that are taken, and ports that are free again.

use undertone_message::NetworkPreset;
use undertone_node::Multiaddr;
use undertone_node::driver::{NodeOptions, RunningNode, StartError, start};
use undertone_relay::RelayConfig;

async fn listening(addresses: &[String]) -> Result<RunningNode, StartError> {
    let preset = NetworkPreset::by_name("local").expect("a known network");
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    let addresses = addresses.iter().map(|address| address.parse::<Multiaddr>());
    let addresses: Result<Vec<_>, _> = addresses.collect();
    let listen = addresses.expect("addresses of these tests are valid");
    start(
        NodeOptions::for_network(&preset)
            .relay(relay)
            .listen(listen),
    )
    .await
}

/// Returns the address without the identity of the node that listens there.
fn without_peer(node: &RunningNode) -> String {
    let mut address = node.addresses[0].clone();
    address.pop();
    address.to_string()
}

fn refusal(outcome: Result<RunningNode, StartError>) -> String {
    match outcome {
        Ok(_) => panic!("two listen on one port"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_port_on_which_another_node_listens_is_refused_by_its_name() {
    for any in ["/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws"] {
        let first = listening(&[any.to_owned()]).await.expect("a free port");
        let taken = without_peer(&first);
        let text = refusal(listening(std::slice::from_ref(&taken)).await);
        assert!(
            text.starts_with(&format!("cannot listen on {taken}: Address already in use")),
            "{text}"
        );
        first.stop().await;
    }
}

#[tokio::test]
async fn two_transports_of_a_node_do_not_share_a_port() {
    let free = listening(&["/ip4/127.0.0.1/tcp/0".to_owned()])
        .await
        .expect("a free port");
    let address = without_peer(&free);
    free.stop().await;
    let text = refusal(listening(&[address.clone(), format!("{address}/ws")]).await);
    assert!(text.contains("/ws: Address already in use"), "{text}");
}

#[tokio::test]
async fn an_address_of_another_machine_is_refused_with_the_reason() {
    let text = refusal(listening(&["/ip4/192.0.2.1/tcp/0".to_owned()]).await);
    assert!(text.contains("Cannot assign requested address"), "{text}");
    assert!(text.contains("this machine has no such address"), "{text}");
}

/// The connections of the node that stopped keep its port for a minute (TIME_WAIT), which is no reason to refuse it.
#[tokio::test]
async fn a_node_that_starts_again_gets_its_port() {
    let first = listening(&["/ip4/127.0.0.1/tcp/0".to_owned()])
        .await
        .expect("a free port");
    let address = without_peer(&first);
    let port = address
        .rsplit('/')
        .next()
        .expect("an address ends in its port");
    let client = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}")).await;
    let client = client.expect("the node listens");
    first.stop().await;
    let second = listening(&[address]).await.expect("its port is free again");
    drop(client);
    second.stop().await;
}
