//! The encrypted content: flags, length, payload, padding, signature.

use std::fmt;

use rand_core::CryptoRng;
use zeroize::{Zeroize as _, Zeroizing};

use crate::limits::PAYLOAD_BYTES_MAX;
use crate::signature::{self, SIGNATURE_BYTES};
use crate::{ContentDefect, PublicKey, SealError, SecretKey};

#[cfg(test)]
#[path = "tests/content.rs"]
mod tests;

/// Bits of the flags that give the size of the length field, in bytes.
const LENGTH_SIZE_MASK: u8 = 0b011;
/// Bit of the flags that marks a signature.
const SIGNED_BIT: u8 = 0b100;
const FLAGS_BYTES: usize = 1;
/// The content's length is a multiple of this number of bytes.
const BLOCK_BYTES: usize = 256;

/// Payload that was decrypted.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// The author's payload, without padding.
    pub payload: Vec<u8>,
    /// Key that the author signed with; `None` without a signature. The application must decide whose key it is.
    pub signed_by: Option<PublicKey>,
}

impl fmt::Debug for Opened {
    /// Shows only the length of the payload, which was meant for few readers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("payload_bytes", &self.payload.len())
            .field("signed_by", &self.signed_by)
            .finish()
    }
}

/// Writes the content of a payload, with room for what the ciphers add.
pub(crate) fn write(
    payload: &[u8],
    signer: Option<&SecretKey>,
    rng: &mut impl CryptoRng,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let size_bytes = payload.len();
    if size_bytes > PAYLOAD_BYTES_MAX {
        return Err(SealError::PayloadTooLarge { size_bytes });
    }
    let length_size = length_size(size_bytes);
    let signature_bytes = signer.map_or(0, |_| SIGNATURE_BYTES);
    let filled = FLAGS_BYTES + length_size + size_bytes;
    // Pads a whole block where none is needed, as other implementations do.
    let padding = BLOCK_BYTES - (filled + signature_bytes) % BLOCK_BYTES;

    // One allocation: a growing vector leaves unwiped copies behind.
    let mut content = Zeroizing::new(Vec::with_capacity(filled + padding + signature_bytes));
    let signed = if signer.is_some() { SIGNED_BIT } else { 0 };
    // At most 3, so it fits the two bits of the mask.
    content.push(length_size as u8 | signed);
    content.extend_from_slice(&size_bytes.to_le_bytes()[..length_size]);
    content.extend_from_slice(payload);
    content.resize(filled + padding, 0);
    rng.fill_bytes(&mut content[filled..]);
    if let Some(signer) = signer {
        let signature = signature::sign(&content, signer);
        content.extend_from_slice(&signature);
    }
    Ok(content)
}

/// Extracts the payload from a decrypted content.
pub(crate) fn read(mut content: Vec<u8>) -> Result<Opened, ContentDefect> {
    let read = locate(&content);
    if let Ok((payload, _)) = &read {
        // Moved to the front in place, so that no second copy needs to be wiped.
        content.copy_within(payload.clone(), 0);
        content[payload.len()..].zeroize();
        content.truncate(payload.len());
    } else {
        content.zeroize();
    }
    read.map(|(_, signed_by)| Opened {
        payload: content,
        signed_by,
    })
}

/// Locates the payload within a content, and recovers the signer.
fn locate(content: &[u8]) -> Result<(std::ops::Range<usize>, Option<PublicKey>), ContentDefect> {
    let size_bytes = content.len();
    let too_short = |min_bytes| ContentDefect::TooShort {
        size_bytes,
        min_bytes,
    };
    let flags = *content.first().ok_or(too_short(FLAGS_BYTES))?;
    let length_size = usize::from(flags & LENGTH_SIZE_MASK);
    if length_size == 0 {
        return Err(ContentDefect::NoLength);
    }
    let start = FLAGS_BYTES + length_size;
    let is_signed = flags & SIGNED_BIT != 0;
    let signature_bytes = if is_signed { SIGNATURE_BYTES } else { 0 };
    let min_bytes = start + signature_bytes;
    let end = size_bytes.checked_sub(signature_bytes);
    let end = end
        .filter(|end| *end >= start)
        .ok_or(too_short(min_bytes))?;
    let (signed, signature) = content.split_at(end);

    let mut length = [0; 4];
    length[..length_size].copy_from_slice(&signed[FLAGS_BYTES..start]);
    // Three bytes fit any `usize`.
    let payload_bytes = u32::from_le_bytes(length) as usize;
    let content_bytes = end - start;
    if payload_bytes > content_bytes {
        return Err(ContentDefect::PayloadBeyondEnd {
            payload_bytes,
            content_bytes,
        });
    }
    let signed_by = match is_signed {
        true => Some(signature::recover(signed, signature).ok_or(ContentDefect::Signature)?),
        false => None,
    };
    Ok((start..start + payload_bytes, signed_by))
}

/// Returns the number of bytes of the length field for a payload, at least one.
fn length_size(payload_bytes: usize) -> usize {
    match payload_bytes {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}
