//! Two members of a reliable channel on nodes within one program: one sends a message, the other receives it
//! and answers.
//!
//! Run it with `cargo run -p undertone-node --example reliable_channel`.

use std::error::Error;
use std::path::Path;

use undertone_message::PubsubTopic;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};
use undertone_node::services::{ChannelEvent, ChannelOptions, ReliableChannel};
use undertone_sds::SdsConfig;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("reliable-channel-{}", std::process::id()));
    let first = node(&folder.join("first"), "").await?;
    let second = node(&folder.join("second"), &first.node.addresses[0].to_string()).await?;
    let mut alice = member(&first, "alice").await?;
    let mut bob = member(&second, "bob").await?;

    let id = alice.send("hello").await?;
    println!("bob hears {:?}", hear(&mut bob).await?);
    bob.send("hello yourself").await?;
    println!("alice hears {:?}", hear(&mut alice).await?);
    println!("alice knows that bob has message {}", &id[..8]);

    first.stop().await;
    second.stop().await;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Starts a node of the network `local`, without rate limiting.
async fn node(folder: &Path, peers: &str) -> Result<Assembled, Box<dyn Error>> {
    let folder = folder.display().to_string();
    let mut flags = vec![
        ("network", "local"),
        ("rln", "false"),
        ("shards", "0"),
        ("data-dir", &folder),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest", "false"),
    ];
    if !peers.is_empty() {
        flags.push(("static-peers", peers));
    }
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let config = NodeConfig::load(&Sources {
        flags: flags.into_iter().map(owned).collect(),
        ..Sources::default()
    })?;
    Ok(assemble(&config).await?)
}

/// Joins the channel as a member.
async fn member(node: &Assembled, name: &str) -> Result<ReliableChannel, Box<dyn Error>> {
    let topic = PubsubTopic::parse("/waku/2/rs/66/0")?;
    let sds = SdsConfig::new("example-channel", name);
    let options = ChannelOptions::new(sds, topic, "/example/1/channel/proto");
    let (handle, services) = (&node.node.handle, &node.services.handle);
    Ok(ReliableChannel::join(handle, services, options).await?)
}

/// Waits for the next message.
async fn hear(channel: &mut ReliableChannel) -> Result<String, Box<dyn Error>> {
    loop {
        match channel.next().await.ok_or("the node has stopped")? {
            ChannelEvent::Message { payload, .. } => return Ok(String::from_utf8(payload)?),
            event => println!("{event:?}"),
        }
    }
}
