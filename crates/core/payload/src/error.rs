//! Errors, grouped by who is at fault.

use thiserror::Error;

use crate::limits::PAYLOAD_BYTES_MAX;

/// Error of invalid key material, the fault of its supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PayloadKeyError {
    /// The key has the wrong number of bytes.
    #[error("a key of {found} bytes, where {expected} are expected")]
    Length {
        /// Number of bytes found.
        found: usize,
        /// Number of bytes expected.
        expected: usize,
    },
    /// The bytes are not a point of secp256k1 in SEC 1 form.
    #[error("not a public key of secp256k1")]
    NotAPoint,
    /// The number is zero or not below the order of secp256k1.
    #[error("not a secret key of secp256k1")]
    NotAScalar,
}

/// Reason why a payload was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SealError {
    /// The caller's generator yielded no secret key in many attempts, so its output cannot be random.
    #[error("the random generator gives no secret key: its numbers are not random")]
    Generator,
    /// The caller's payload is longer than the format can express.
    #[error("a payload of {size_bytes} bytes; at most {PAYLOAD_BYTES_MAX} can be sealed")]
    PayloadTooLarge {
        /// Length of the payload, in bytes.
        size_bytes: usize,
    },
}

/// Reason why a sealed payload was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The author is at fault: the bytes were sealed with the key, but their content violates RFC 26.
    #[error("the author broke the format: {0}")]
    Content(#[from] ContentDefect),
    /// Whoever called these bytes sealed is at fault: no key opens them. A message sealed in the other of the
    /// two ways also looks like this.
    #[error("not a sealed payload of this kind: {0}")]
    Ciphertext(#[from] CiphertextDefect),
    /// Nobody identifiable is at fault: the bytes were sealed with another key, or changed in transit.
    #[error("sealed with another key, or changed on the way")]
    OtherKeyOrChanged,
    /// The bytes exceed the reader's limit and were not examined.
    #[error("a sealed payload of {size_bytes} bytes; at most {max_bytes} are opened")]
    TooLarge {
        /// Length of the sealed payload, in bytes.
        size_bytes: usize,
        /// Maximum length opened, in bytes:
        /// [`PayloadLimits::sealed_bytes_max`](crate::PayloadLimits::sealed_bytes_max).
        max_bytes: usize,
    },
}

/// Defect of bytes that no key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CiphertextDefect {
    /// The ephemeral public key is not an uncompressed point of secp256k1.
    #[error("its ephemeral public key is not one")]
    EphemeralKey,
    /// The bytes are fewer than those of the shortest sealed payload.
    #[error("{size_bytes} bytes, fewer than the {min_bytes} of the shortest")]
    TooShort {
        /// Length of the bytes.
        size_bytes: usize,
        /// Length of the shortest sealed payload of this kind.
        min_bytes: usize,
    },
}

/// Defect of the decrypted content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContentDefect {
    /// The flags announce no length, without which the payload cannot be found.
    #[error("no length")]
    NoLength,
    /// The payload would end after the content, or within the signature.
    #[error("a payload of {payload_bytes} bytes in {content_bytes} bytes")]
    PayloadBeyondEnd {
        /// Length of the payload as stated by the author.
        payload_bytes: usize,
        /// Number of bytes available for it.
        content_bytes: usize,
    },
    /// No key can have made the signature for this content.
    #[error("a signature of no key")]
    Signature,
    /// The content ends before its length or its signature.
    #[error("{size_bytes} bytes, where at least {min_bytes} are needed")]
    TooShort {
        /// Length of the content, in bytes.
        size_bytes: usize,
        /// Length that the flags require.
        min_bytes: usize,
    },
}
