//! How the sender interprets a lightpush peer's refusal: as a failure, or as published after all.

use super::PushFailure;
use crate::lightpush::{LightpushStatus, PublishRefusal, PushVersion};

#[cfg(test)]
#[path = "tests/refused_push.rs"]
mod tests;

/// Returns the outcome of a push that a lightpush peer refused with this status and text. For version 2, which has no
/// status, only the text counts.
///
/// # Errors
/// [`PushFailure`], unless the peer says that its relay has the message already: that is published.
pub fn refused_push(
    version: PushVersion,
    status: LightpushStatus,
    description: &str,
) -> Result<Option<u32>, PushFailure> {
    let is_duplicate = description == PublishRefusal::Duplicate.to_string();
    let lower = description.to_ascii_lowercase();
    let is_about_proof = ["proof", "rln"].iter().any(|word| lower.contains(word));
    let failure = match (version, status) {
        (PushVersion::V2, _) | (PushVersion::V3, LightpushStatus::INVALID_MESSAGE)
            if is_duplicate =>
        {
            return Ok(None);
        }
        (PushVersion::V2, _) if is_about_proof => PushFailure::ProofRefused,
        (PushVersion::V2, _) => PushFailure::NoPeers,
        (PushVersion::V3, status) => match status {
            LightpushStatus::OUT_OF_RLN_PROOF => PushFailure::ProofRefused,
            LightpushStatus::INVALID_MESSAGE if is_about_proof => PushFailure::ProofRefused,
            LightpushStatus::PAYLOAD_TOO_LARGE => PushFailure::TooLarge,
            LightpushStatus::UNSUPPORTED_PUBSUB_TOPIC => PushFailure::UnsupportedTopic,
            LightpushStatus::TOO_MANY_REQUESTS | LightpushStatus::SERVICE_NOT_AVAILABLE => {
                PushFailure::Busy { retry_after: None }
            }
            LightpushStatus::NO_PEERS_TO_RELAY => PushFailure::NoPeers,
            LightpushStatus(400..=499) => PushFailure::Invalid,
            _ => PushFailure::Internal,
        },
    };
    Err(failure)
}
