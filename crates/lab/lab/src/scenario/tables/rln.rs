//! `[rln]`: the rate limit and its costs. Without the table there is no rate limit.

use undertone_settings::{Error, MS, keys};
use undertone_sim::scenario::{Rln, Verification};

use super::key::{FieldKey, Key, fields};

const VERIFICATIONS: &[(&str, Verification)] = &[
    ("wait", Verification::Wait { ns: 0 }),
    (
        "batches",
        Verification::Batches {
            single_ns: 0,
            batch_base_ns: 0,
            batch_per_proof_ns: 0,
        },
    ),
];

/// The values of The Waku Network: 100 messages in 600 s.
const INITIAL: Rln = Rln {
    message_limit: 100,
    epoch_s: 600,
    generation_ns: 0,
    verification: Verification::Wait { ns: 0 },
};

const LIMIT: &[FieldKey<Rln>] = fields![
    whole(1, 1 << 16): message_limit;
    whole(1, 1_000_000_000): epoch_s;
    variant(VERIFICATIONS): verification;
];

pub(super) fn rln(key: Key<'_>, rln: &mut Option<Rln>) -> Result<(), Error> {
    key.some(rln, INITIAL, |key, rln| {
        key.table(|table| {
            keys!(table, LIMIT => generation_ms, verification_ms, single_ms, batch_base_ms, batch_per_proof_ms);
            table.fill(LIMIT, rln)?;
            let time = |key: Key<'_>, ns: &mut u64| {
                let key = key.required("milliseconds, 0 or more")?;
                key.time(MS, ns)
            };
            match &mut rln.verification {
                Verification::Wait { ns } => time(verification_ms, ns)?,
                Verification::Batches {
                    single_ns,
                    batch_base_ns,
                    batch_per_proof_ns,
                } => {
                    time(single_ms, single_ns)?;
                    time(batch_base_ms, batch_base_ns)?;
                    time(batch_per_proof_ms, batch_per_proof_ns)?;
                }
            }
            time(generation_ms, &mut rln.generation_ns)?;
            table.check_all_read("the other kind of rln.verification would use it")
        })
    })
}
