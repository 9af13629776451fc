//! Records of nodes, as text and as RLP, the name of a tree of them in DNS, and peers' addresses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_discovery::dns::tree::{TreeLimits, TreeUrl, TreeWalk};
use undertone_discovery::record::WakuRecord;
use undertone_fuzz::rng;

fuzz_target!(|input: &[u8]| {
    if let Ok(record) = WakuRecord::from_rlp(input) {
        // The library takes bytes behind a record for none.
        assert!(input.starts_with(&record.to_rlp()));
        look_at(&record);
    }
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    if let Ok(record) = WakuRecord::parse(text) {
        look_at(&record);
    }
    let mut lines = text.lines();
    if let Ok(tree) = TreeUrl::parse(lines.next().unwrap_or_default()) {
        let mut walk = TreeWalk::new(&[tree], TreeLimits::default(), rng());
        while walk.next_name().is_some() {
            let answer: Vec<String> = lines.next().map(Into::into).into_iter().collect();
            let _ = walk.answer(&answer);
        }
    }
});

fn look_at(record: &WakuRecord) {
    record.addresses();
    record.facts();
    record.udp();
}
