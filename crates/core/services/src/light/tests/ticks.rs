//! Ticks that a client requests: each must make progress, so that time passes.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use undertone_gossip::Time;

use crate::PeerNo;
use crate::light::{Input, LightClient, LightConfig, Output, ServicePeer, Services};
use crate::trust::Standing;

const PEER: PeerNo = PeerNo(1);

/// Found by fuzzing (target `light`): a peer connects while it is dialled, and the dial fails. Its ping was due over
/// and over again, and could not be sent.
#[test]
fn a_ping_is_not_due_while_its_peer_is_away() {
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut client = LightClient::new(LightConfig::default(), 0, rng);
    let services = Services {
        filter: true,
        ..Services::default()
    };
    client.handle(
        Time::ZERO,
        Input::PeerFound(ServicePeer {
            peer: PEER,
            services,
            pubsub_topics: None,
            filters_all: false,
            standing: Standing::Known,
            network: None,
        }),
    );
    client.handle(Time::ZERO, Input::Connected(PEER));
    let subscribe = Input::Subscribe {
        pubsub_topic: "/waku/2/rs/1/0".into(),
        content_topics: vec!["/a/1/b/proto".into()],
        since_ns: None,
    };
    client.handle(Time::ZERO, subscribe);
    let asked = std::iter::from_fn(|| client.poll()).find_map(|output| match output {
        Output::Filter { request, .. } => Some(request),
        _ => None,
    });
    let request = asked.expect("the peer is connected");
    let answer = Ok(());
    client.handle(Time::ZERO, Input::FilterAnswer { request, answer });
    client.handle(Time::ZERO, Input::ConnectFailed(PEER));

    let ping_at = Time::ZERO.after(LightConfig::default().ping_every);
    let mut now = Time::ZERO;
    while now <= ping_at {
        let next = client.next_timeout().expect("a filter peer is wanted");
        assert!(next > now, "due again at {now:?}");
        now = next;
        client.handle(now, Input::Tick);
        while client.poll().is_some() {}
    }
}
