//! A port on which another node, or another transport of the node, listens.

use libp2p::multiaddr::Protocol;
use undertone_node::Multiaddr;

use super::support::Node;

fn address(text: &str) -> Multiaddr {
    text.parse().expect("a constant")
}

/// A node that listens at an address, without its identity.
async fn listening(at: &str) -> (Node, Multiaddr) {
    let node = Node::with(|options| options.listen([address(at)])).await;
    let parts = node.address().iter();
    let own = parts.filter(|part| !matches!(part, Protocol::P2p(_)));
    let own = own.collect();
    (node, own)
}

/// Error of a node that cannot start on these addresses.
async fn refused(addresses: Vec<Multiaddr>) -> String {
    match Node::try_with(|options| options.listen(addresses)).await {
        Ok(_) => panic!("two share a port"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_node_is_told_which_port_is_taken_on_every_transport() {
    for at in [
        "/ip4/127.0.0.1/tcp/0",
        "/ip4/127.0.0.1/tcp/0/ws",
        "/ip4/127.0.0.1/udp/0/quic-v1",
    ] {
        let (node, own) = listening(at).await;
        let error = refused(vec![own.clone()]).await;
        assert!(error.contains(&format!("on {own}: ")), "{error}");
        assert!(error.contains("in use"), "{error}");
        node.stop().await;
        // Its port is free as soon as it has ended.
        Node::with(|options| options.listen([own]))
            .await
            .stop()
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn websocket_and_tcp_of_one_node_cannot_have_the_same_port() {
    let (node, own) = listening("/ip4/127.0.0.1/tcp/0").await;
    node.stop().await;
    let websocket = own.clone().with(Protocol::Ws("/".into()));
    let error = refused(vec![own, websocket.clone()]).await;
    assert!(error.contains(&format!("on {websocket}: ")), "{error}");
    assert!(error.contains("in use"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_another_machine_is_refused_with_the_reason() {
    let error = refused(vec![address("/ip4/192.0.2.1/tcp/0")]).await;
    assert!(error.contains("Cannot assign requested address"), "{error}");
    let remedy = "this machine has no such address; choose one that it has";
    assert!(error.ends_with(remedy), "{error}");
}
