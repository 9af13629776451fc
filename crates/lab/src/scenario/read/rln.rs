//! TreeReader of `[rln]`: the rate limit and its costs. Without the table there is no rate limit.

use undertone_settings::{Error, MS, SectionKey, keys};
use undertone_sim::scenario::{Rln, Verification};

pub(super) fn read(rln: SectionKey<'_>) -> Result<Option<Rln>, Error> {
    let section = rln.table()?;
    keys!(section => message_limit, epoch_s, generation_ms, verification, verification_ms, single_ms,
          batch_base_ms, batch_per_proof_ms);
    if !section.is_present() {
        return Ok(None);
    }
    let time = |key: SectionKey<'_>| {
        key.time(MS)?
            .ok_or_else(|| key.bad("milliseconds, 0 or more"))
    };
    let is_wait = verification.word(&[("wait", true), ("batches", false)])?;
    let verification = if is_wait.unwrap_or(true) {
        Verification::Wait {
            ns: time(verification_ms)?,
        }
    } else {
        Verification::Batches {
            single_ns: time(single_ms)?,
            batch_base_ns: time(batch_base_ms)?,
            batch_per_proof_ns: time(batch_per_proof_ms)?,
        }
    };
    let rln = Rln {
        // The values of The Waku Network: 100 messages in 600 s.
        message_limit: message_limit.whole(1, 1 << 16)?.unwrap_or(100),
        epoch_s: epoch_s.whole(1, 1_000_000_000)?.unwrap_or(600),
        generation_ns: time(generation_ms)?,
        verification,
    };
    section.check_all_read("the other kind of rln.verification would use it")?;
    Ok(Some(rln))
}
