//! The rate-limit proof that a message carries.

use undertone_message::WakuMessage;
use undertone_rln::RateLimitProof;

use crate::rejection::Rejection;

/// Decodes the proof of a message.
///
/// # Errors
/// [`Rejection::MissingProof`] when the field is absent or empty, [`Rejection::MalformedProof`] when
/// its bytes are no proof.
pub(crate) fn proof_of(message: &WakuMessage) -> Result<RateLimitProof, Rejection> {
    let field = message.rate_limit_proof.as_ref();
    let field = field
        .filter(|field| !field.is_empty())
        .ok_or(Rejection::MissingProof)?;
    RateLimitProof::decode(field).map_err(Rejection::MalformedProof)
}
