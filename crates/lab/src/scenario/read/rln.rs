//! Reader of `[rln]`: the rate limit and its costs. Without the table there is no rate limit.

use undertone_sim::scenario::{Rln, Verification};

use super::super::ScenarioError;
use super::super::section::{MS, Section};

const KEYS: &[&str] = &[
    "message_limit",
    "epoch_s",
    "generation_ms",
    "verification",
    "verification_ms",
    "single_ms",
    "batch_base_ms",
    "batch_per_proof_ms",
];

pub(super) fn read(root: &Section<'_>) -> Result<Option<Rln>, ScenarioError> {
    const TIME: &str = "milliseconds, 0 or more";
    let section = root.below("rln", KEYS)?;
    if !section.is_present() {
        return Ok(None);
    }
    let time = |key| section.time(key, MS)?.ok_or_else(|| section.bad(key, TIME));
    let is_wait = section
        .word("verification", &[("wait", true), ("batches", false)])?
        .unwrap_or(true);
    let verification = if is_wait {
        Verification::Wait {
            ns: time("verification_ms")?,
        }
    } else {
        Verification::Batches {
            single_ns: time("single_ms")?,
            batch_base_ns: time("batch_base_ms")?,
            batch_per_proof_ns: time("batch_per_proof_ms")?,
        }
    };
    let rln = Rln {
        // The values of The Waku Network: 100 messages in 600 s.
        message_limit: section.whole("message_limit", 1, 1 << 16)?.unwrap_or(100),
        epoch_s: section.whole("epoch_s", 1, 1_000_000_000)?.unwrap_or(600),
        generation_ns: time("generation_ms")?,
        verification,
    };
    section.check_all_read("the other kind of rln.verification would use it")?;
    Ok(Some(rln))
}
