//! Errors, by who is at fault.

use thiserror::Error;

use crate::limits::PAYLOAD_BYTES_MAX;

/// Error of key material that is not a key; the fault of who supplied it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PayloadKeyError {
    /// The number of bytes is not that of the key.
    #[error("a key of {found} bytes, where {expected} are expected")]
    Length {
        /// Number of bytes that were given.
        found: usize,
        /// Number of bytes that the key has.
        expected: usize,
    },
    /// The bytes are no point of secp256k1 in SEC 1 form.
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
    /// The caller's generator gave no secret key in many attempts, so its numbers cannot be random.
    #[error("the random generator gives no secret key: its numbers are not random")]
    Generator,
    /// The caller's payload is longer than the format can say.
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
    /// The author's fault: the bytes were sealed with the key, and what they contain breaks RFC 26.
    #[error("the author broke the format: {0}")]
    Content(#[from] ContentDefect),
    /// The fault of who called these bytes sealed: no key opens them. Also the form of a message sealed in the
    /// other of the two ways.
    #[error("not a sealed payload of this kind: {0}")]
    Ciphertext(#[from] CiphertextDefect),
    /// The fault of nobody that can be known: the bytes were sealed with another key, or changed on the way.
    #[error("sealed with another key, or changed on the way")]
    OtherKeyOrChanged,
    /// The limit of the reader: the bytes were not looked at.
    #[error("a sealed payload of {size_bytes} bytes; at most {max_bytes} are opened")]
    TooLarge {
        /// Length of the sealed payload, in bytes.
        size_bytes: usize,
        /// Most bytes opened, from [`PayloadLimits::sealed_bytes_max`](crate::PayloadLimits::sealed_bytes_max).
        max_bytes: usize,
    },
}

/// Defect of bytes that no key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CiphertextDefect {
    /// The ephemeral public key is no uncompressed point of secp256k1.
    #[error("its ephemeral public key is not one")]
    EphemeralKey,
    /// There are fewer bytes than the shortest sealed payload has.
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
    /// The flags say that there is no length, without which the payload cannot be found.
    #[error("no length")]
    NoLength,
    /// The payload would end after the content, or within the signature.
    #[error("a payload of {payload_bytes} bytes in {content_bytes} bytes")]
    PayloadBeyondEnd {
        /// Length of the payload, as the author wrote it.
        payload_bytes: usize,
        /// Number of bytes that there are for it.
        content_bytes: usize,
    },
    /// The signature is one that no key makes for this content.
    #[error("a signature of no key")]
    Signature,
    /// The content ends before its length or its signature.
    #[error("{size_bytes} bytes, where at least {min_bytes} are needed")]
    TooShort {
        /// Length of the content, in bytes.
        size_bytes: usize,
        /// Length that the flags ask for.
        min_bytes: usize,
    },
}
