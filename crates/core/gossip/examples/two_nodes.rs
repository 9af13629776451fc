//! Two routers in virtual time: the loop that every driver of this crate implements.
//!
//! `cargo run -p undertone-gossip --example two_nodes`

use std::collections::VecDeque;
use std::error::Error;

use undertone_gossip::{
    Config, Direction, Features, Input, NewPeer, Output, PeerIx, Progress, RequestId, Router, Time,
    Verdict,
};

/// Each node has one peer, the other node, and calls it by this index.
const PEER: PeerIx = PeerIx(0);

fn main() -> Result<(), Box<dyn Error>> {
    let router = |seed| Router::new(Config::libp2p(), [seed; 32], Time::ZERO);
    let mut nodes = [router(1)?, router(2)?];
    let features = Features::of("/meshsub/1.2.0").ok_or("not in the table of protocols")?;
    let mut inputs = VecDeque::new();
    for (node, direction) in [(0, Direction::Outbound), (1, Direction::Inbound)] {
        let peer = NewPeer::new(PEER, features, direction);
        inputs.push_back((node, Input::Connected(peer)));
        inputs.push_back((node, Input::Subscribe("/example/1".into())));
    }
    let (topic, data, request) = ("/example/1".into(), "hello".into(), RequestId(7));
    let mut publish = Some((
        0,
        Input::Publish {
            topic,
            data,
            request,
        },
    ));
    let mut delivered = 0;
    // 1. Time advances to the next timer of any node. The first timers are heartbeats, which form the mesh.
    while let Some(now) = nodes.iter().map(Router::next_timeout).min()
        && now < Time::from_millis(3_000)
    {
        inputs.extend([(0, Input::Tick), (1, Input::Tick)]);
        // When nothing is in transit any more, node 0 publishes.
        while let Some((node, input)) = inputs.pop_front().or_else(|| publish.take()) {
            // 2. A node takes one input.
            nodes[node].handle(now, input)?;
            // 3. Its outputs are polled until there are none, before the next input.
            while let Some(output) = nodes[node].poll() {
                match output {
                    // A real driver queues the frame (`SendQueue`) and reports when the transport takes it.
                    #[rustfmt::skip]
                    Output::Send { peer, handle, frame, .. } => {
                        let (progress, rpc) = (Progress::Started, frame.into());
                        inputs.push_back((node, Input::Sent { peer, handle, progress }));
                        inputs.push_back((1 - node, Input::Frame { peer: PEER, frame: rpc }));
                    }
                    Output::Validate { id, .. } => {
                        let verdict = Verdict::Accept;
                        inputs.push_back((node, Input::Validated { id, verdict }));
                    }
                    Output::Deliver { data, .. } => {
                        delivered += 1;
                        println!("{now:?}: node {node} got {data:?}");
                    }
                    Output::Published { outcome, .. } => println!("{now:?}: sent {:?}", outcome?),
                    // Nothing waits in a queue here, and nobody misbehaves or disconnects.
                    Output::Cancel { .. } | Output::Copied { .. } | Output::Connect { .. } => {}
                    Output::Disconnect(_) | Output::Forgotten(_) | Output::Report(_) => {}
                }
            }
        }
    }
    assert_eq!(delivered, 1);
    Ok(())
}
