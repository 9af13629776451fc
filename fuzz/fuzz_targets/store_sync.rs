//! Store synchronisation: two honest sides, of which one is interrupted by payloads that a stranger made or changed.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::Reader;
use undertone_message::MessageHash;
use undertone_services::sync::{Reconciler, SyncLimits, SyncScope, SyncSet, SyncStep};

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut limits = SyncLimits::default();
    limits.max_rounds = 12;
    limits.max_missing = 40;
    limits.max_set = 40;
    let scope = SyncScope::default();
    let sets = [set(&mut reader, &limits), set(&mut reader, &limits)];
    let (first, mut payload) = Reconciler::initiate(&sets[0], scope.clone(), 0, 1 << 20, limits);
    let mut sides = [first, Reconciler::respond(scope, 0, limits)];
    let mut turn = 1;
    while !payload.is_empty() {
        match reader.byte() % 8 {
            0 => payload = reader.piece().to_vec(),
            1 => {
                let place = usize::from(reader.number()) % payload.len();
                payload[place] ^= reader.byte();
            }
            _ => {}
        }
        let Ok(step) = sides[turn].handle(&sets[turn], &payload) else {
            break;
        };
        let SyncStep {
            reply,
            to_send,
            to_receive,
            is_last,
        } = step;
        assert!(to_send.len() <= sets[turn].len());
        assert!(to_receive.len() <= limits.max_missing);
        assert!(sides[turn].rounds() <= limits.max_rounds);
        assert!(!is_last || sides[turn].is_over());
        payload = reply.unwrap_or_default();
        turn = 1 - turn;
    }
});

fn set(reader: &mut Reader<'_>, limits: &SyncLimits) -> SyncSet {
    let mut set = SyncSet::new(limits);
    let topic: Arc<str> = "/waku/2/rs/1/0".into();
    for _ in 0..reader.byte() % 48 {
        let (time_ns, hash) = (reader.number().into(), MessageHash([reader.byte(); 32]));
        set.insert(time_ns, hash, Arc::clone(&topic), Arc::clone(&topic));
    }
    set
}
