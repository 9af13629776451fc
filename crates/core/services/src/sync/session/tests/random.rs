//! Random sets and random peers.

use proptest::prelude::*;

use super::*;

/// Few distinct times and hashes, so that sets share timestamps and messages.
fn small_sets() -> impl Strategy<Value = (Ids, Ids)> {
    let messages = (0u64..40, 1u64..12, 0u8..3);
    prop::collection::vec(messages, 0..120).prop_map(|messages| {
        let (mut ours, mut theirs) = (Ids::new(), Ids::new());
        for (time, byte, side) in messages {
            let id = message(time, byte);
            if side != 0 {
                ours.insert(id);
            }
            if side != 1 {
                theirs.insert(id);
            }
        }
        (ours, theirs)
    })
}

proptest! {
    #[test]
    fn both_sides_know_exactly_the_differences((ours, theirs) in small_sets()) {
        let outcome = check(&ours, &theirs);
        // A session must not exceed listing every message both ways by much.
        let all = ours.len() + theirs.len();
        prop_assert!(outcome.bytes() <= 200 + 140 * all, "{} for {all}", outcome.bytes());
    }

    #[test]
    fn sides_with_other_parameters_know_exactly_the_differences(
        (ours, theirs) in small_sets(),
        parameters in any::<[(u8, u8); 2]>(),
    ) {
        let limits = parameters.map(|(parts, max_items)| SyncLimits {
            parts: usize::from(parts % 20),
            max_items: usize::from(max_items % 120),
            ..SyncLimits::default()
        });
        let all = SyncScope::default();
        let outcome = reconcile_with(&set_of(&ours), &set_of(&theirs), [&all, &all], limits);
        prop_assert_eq!(outcome.ours, differences(&ours, &theirs));
        prop_assert_eq!(outcome.theirs, differences(&theirs, &ours));
    }

    #[test]
    fn mutated_payloads_neither_panic_nor_loop(
        (ours, theirs) in small_sets(),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (ours, theirs) = (set_of(&ours), set_of(&theirs));
        let limits = SyncLimits::default();
        let (mut a, mut payload) = initiate(&ours, &SyncScope::default(), limits);
        let mut b = respond(&SyncScope::default(), limits);
        let mut mutations = mutations.into_iter();
        for turn in 0..200 {
            if let Some((at, byte)) = mutations.next() {
                let at = at.index(payload.len());
                payload[at] = byte;
            }
            let step = match turn % 2 {
                0 => b.handle(&theirs, &payload),
                _ => a.handle(&ours, &payload),
            };
            match step {
                Ok(SyncStep { reply: Some(reply), .. }) => payload = reply,
                _ => return Ok(()),
            }
        }
        prop_assert!(false, "the session does not end");
    }

    #[test]
    fn replies_are_valid_whatever_a_peer_sends(
        (ours, _) in small_sets(),
        ranges in prop::collection::vec((0u64..12, any::<[u8; 2]>(), 0u8..4), 0..30),
    ) {
        // Ranges that end within a timestamp, which nobody sends but which are valid.
        let mut lower = SyncId::at(START_NS);
        let mut payload = RangesPayload::default();
        for (step_ns, bytes, kind) in ranges {
            let mut upper = SyncId::at(lower.time_ns + step_ns);
            if step_ns == 0 {
                upper.hash.0[..2].copy_from_slice(&bytes);
                upper = upper.max(lower);
            }
            let items = |reconciled| RangeContent::Items(ItemSet { elements: vec![], reconciled });
            let content = match kind {
                0 => RangeContent::Skip,
                1 => RangeContent::Fingerprint(Fingerprint([bytes[0]; 32])),
                2 => items(true),
                _ => items(false),
            };
            payload.ranges.push(SyncRange { lower, upper, content });
            lower = upper;
        }
        let bytes = payload.encode();
        let limits = SyncLimits::default();
        let decoded = RangesPayload::decode(&bytes, &limits).unwrap();
        prop_assert_eq!(&decoded, &payload);
        let mut session = respond(&SyncScope::default(), limits);
        let step = session.handle(&set_of(&ours), &bytes).unwrap();
        let named: Ids = step.to_send.iter().copied().collect();
        prop_assert_eq!(named.len(), step.to_send.len());
        if let Some(reply) = step.reply {
            prop_assert!(RangesPayload::decode(&reply, &limits).is_ok());
        }
    }
}
