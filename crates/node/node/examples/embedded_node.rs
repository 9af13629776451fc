//! Two nodes within one program, on loopback: one publishes a message and the other receives it.
//! Run it with `cargo run -p undertone-node --example embedded_node`.

use std::error::Error;
use std::time::Duration;

use undertone_message::{NetworkPreset, PubsubTopic, WakuMessage};
use undertone_node::Multiaddr;
use undertone_node::command::PeerSnapshot;
use undertone_node::driver::{NodeOptions, RunningNode, start};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let topic = PubsubTopic::parse("/waku/2/rs/66/0")?;
    let receiver = node(&topic, Vec::new()).await?;
    let mut messages = receiver.handle.messages(16); // Messages beyond this capacity are dropped.
    let sender = node(&topic, receiver.addresses.clone()).await?;

    let message = WakuMessage::new("hello", "/example/1/greeting/utf8");
    // A message needs a peer that is subscribed to its topic.
    let is_heard = |peers: Vec<PeerSnapshot>| peers.iter().any(|peer| peer.topics.contains(&topic));
    while !is_heard(sender.handle.peers().await?) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    sender.handle.publish(topic.clone(), message).await?;
    let delivery = messages.recv().await.ok_or("the receiver has stopped")?;
    let text = String::from_utf8_lossy(&delivery.message.payload);
    println!("{} received {text:?}", receiver.peer_id);

    sender.stop().await;
    receiver.stop().await;
    Ok(())
}

/// Starts a node in the network `local`, without rate limiting.
async fn node(topic: &PubsubTopic, peers: Vec<Multiaddr>) -> Result<RunningNode, Box<dyn Error>> {
    let mut network = NetworkPreset::by_name("local")?;
    network.rln = None;
    let options = NodeOptions::for_network(&network).static_peers(peers);
    let options = options.listen(["/ip4/127.0.0.1/tcp/0".parse()?]);
    Ok(start(options.topics([topic.clone()])).await?)
}
