use proptest::prelude::*;

use super::*;
use crate::sync::{Fingerprint, RangesPayload, SyncLimits};

/// Ascending bounds, of which some are within a timestamp.
fn bounds() -> impl Strategy<Value = Vec<SyncId>> {
    let bound = (1u64..5, prop::option::of(any::<[u8; 2]>()));
    prop::collection::btree_set(bound, 0..12).prop_map(|bounds| {
        let place = |(time_ns, bytes): (u64, Option<[u8; 2]>)| {
            let mut bound = SyncId::at(time_ns);
            bound.hash.0[..2].copy_from_slice(&bytes.unwrap_or_default());
            bound
        };
        let mut bounds: Vec<_> = bounds.into_iter().map(place).collect();
        bounds.sort();
        bounds.dedup();
        bounds
    })
}

proptest! {
    #[test]
    fn what_is_written_arrives_and_the_rest_is_skipped(bounds in bounds(), keep: [bool; 12]) {
        let mut writer = RangeWriter::default();
        let mut written = Vec::new();
        for (pair, keep) in bounds.windows(2).zip(keep) {
            let [lower, upper] = *pair else { unreachable!() };
            // A range of several timestamps that ends within one has no form on the wire.
            let has_form = lower.time_ns == upper.time_ns || upper == SyncId::at(upper.time_ns);
            if keep && has_form {
                let content = RangeContent::Fingerprint(Fingerprint([7; 32]));
                writer.put(lower, upper, content.clone());
                prop_assert_eq!(writer.end(), upper);
                written.push(SyncRange { lower, upper, content });
            }
        }
        let ranges = writer.finish();
        let payload = RangesPayload { ranges, ..RangesPayload::default() };
        let arrived = RangesPayload::decode(&payload.encode(), &SyncLimits::default()).unwrap();
        prop_assert_eq!(&arrived, &payload);
        let says = |range: &SyncRange| range.content != RangeContent::Skip;
        let said: Vec<_> = arrived.ranges.into_iter().filter(says).collect();
        prop_assert_eq!(said, written);
    }
}
