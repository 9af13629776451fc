//! Encoded RPCs are decoded again; arbitrary bytes are decoded without panic and within the limits.

use bytes::Bytes;
use proptest::prelude::*;

use crate::limits::Limits;
use crate::tests::raw;
use crate::types::{MessageId, Topic};
use crate::wire::WireMessage;
use crate::wire::{Encoder, IHave, Prune, PxPeer, Rpc, Subscription, decode, message_frame};

fn topic() -> impl Strategy<Value = Topic> {
    "[a-z/éß]{0,40}".prop_map(|name| Topic::new(&name))
}

fn ids() -> impl Strategy<Value = Vec<MessageId>> {
    prop::collection::vec(any::<[u8; 32]>().prop_map(MessageId), 0..20)
}

fn px_peer() -> impl Strategy<Value = PxPeer> {
    let bytes = |min| prop::collection::vec(any::<u8>(), min..60).prop_map(Bytes::from);
    (bytes(1), bytes(0)).prop_map(|(peer_id, record)| PxPeer { peer_id, record })
}

prop_compose! {
    fn control_rpc()(
        subscriptions in prop::collection::vec((any::<bool>(), topic()), 0..10),
        ihave in prop::collection::vec((topic(), ids()), 0..5),
        iwant in ids(),
        graft in prop::collection::vec(topic(), 0..10),
        prune in prop::collection::vec(
            (topic(), prop::collection::vec(px_peer(), 0..4), any::<Option<u64>>()),
            0..10,
        ),
        idontwant in ids(),
    ) -> Rpc {
        let subscription = |(subscribe, topic)| Subscription { subscribe, topic };
        let prune_of = |(topic, peers, backoff_s)| Prune { topic, peers, backoff_s };
        Rpc {
            subscriptions: subscriptions.into_iter().map(subscription).collect(),
            messages: Vec::new(),
            ihave: ihave.into_iter().map(|(topic, ids)| IHave { topic, ids }).collect(),
            iwant,
            graft,
            prune: prune.into_iter().map(prune_of).collect(),
            idontwant,
            idontwant_entries: 1,
            stem: false,
        }
    }
}

fn encode(rpc: &Rpc) -> Bytes {
    let mut encoder = Encoder::default();
    for change in &rpc.subscriptions {
        encoder.subscription(change.subscribe, &change.topic);
    }
    for ihave in &rpc.ihave {
        encoder.ihave(&ihave.topic, &ihave.ids);
    }
    encoder.iwant(&rpc.iwant);
    for topic in &rpc.graft {
        encoder.graft(topic);
    }
    for prune in &rpc.prune {
        let peers = prune
            .peers
            .iter()
            .map(|p| (p.peer_id.clone(), p.record.clone()));
        encoder.prune(&prune.topic, prune.backoff_s, &peers.collect::<Vec<_>>());
    }
    encoder.idontwant(&rpc.idontwant);
    encoder.finish().unwrap()
}

/// Bytes that resemble protobuf closely enough to get past the first fields.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let field = (0u64..8, prop::collection::vec(any::<u8>(), 0..40));
    let nested = prop::collection::vec(field, 0..20).prop_map(|fields| {
        let fields = fields.iter().map(|(number, content)| match number {
            0 => content.clone(),
            7 => raw::number(1, content.len() as u64),
            n => raw::bytes(*n, content),
        });
        fields.collect::<Vec<_>>().concat()
    });
    let control = nested.clone().prop_map(|inner| raw::bytes(3, &inner));
    let ids = (0usize..300, 1u64..6).prop_map(|(n, kind)| {
        let ids = raw::made_up_ids(0, n)
            .iter()
            .flat_map(|id| raw::bytes(1, &id.0))
            .collect();
        let ids: Vec<u8> = ids;
        raw::bytes(3, &raw::bytes(kind, &ids))
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..400),
        nested,
        control,
        ids,
    ]
}

proptest! {
    #[test]
    fn control_survives_the_wire(rpc in control_rpc()) {
        let frame = encode(&rpc);
        prop_assert_eq!(decode(&raw::strip_prefix(&frame), &Limits::default()), Ok(rpc));
    }

    #[test]
    fn messages_survive_the_wire(
        topic in topic(),
        data in prop::collection::vec(any::<u8>(), 0..70_000),
    ) {
        let frame = message_frame(&topic, &data);
        let rpc = decode(&raw::strip_prefix(&frame), &Limits::default()).unwrap();
        let (data, signed) = (Bytes::from(data), false);
        prop_assert_eq!(rpc.messages, [WireMessage { topic, data, signed }]);
    }

    #[test]
    fn hostile_bytes_stay_within_the_limits(parts in prop::collection::vec(hostile(), 0..6)) {
        let limits = Limits {
            topic_bytes_max: 30,
            subscriptions_per_rpc_max: 4,
            messages_per_rpc_max: 4,
            control_entries_per_rpc_max: 4,
            ids_per_rpc_max: 100,
            px_peers_per_prune_max: 2,
            px_record_bytes_max: 20,
            ..Limits::default()
        };
        let Ok(rpc) = decode(&Bytes::from(parts.concat()), &limits) else {
            return Ok(());
        };
        prop_assert!(rpc.subscriptions.len() <= 4 && rpc.messages.len() <= 4);
        prop_assert!(rpc.graft.len() <= 4 && rpc.prune.len() <= 4 && rpc.ihave.len() <= 4);
        prop_assert!(rpc.idontwant_entries <= 4);
        prop_assert!(rpc.iwant.len() <= 100 && rpc.idontwant.len() <= 100);
        prop_assert!(rpc.ihave.iter().map(|i| i.ids.len()).sum::<usize>() <= 100);
        for prune in &rpc.prune {
            prop_assert!(prune.peers.len() <= 2);
            prop_assert!(prune.peers.iter().all(|p| p.peer_id.len().max(p.record.len()) <= 20));
        }
        prop_assert!(rpc.graft.iter().all(|topic| topic.as_bytes().len() <= 30));
        // Everything is a slice of the frame or an id: no vector grows beyond its counted entries.
        let doubled = |capacity: usize, max: usize| capacity <= 2 * max.max(4);
        prop_assert!(doubled(rpc.iwant.capacity(), 100) && doubled(rpc.graft.capacity(), 4));
    }
}
