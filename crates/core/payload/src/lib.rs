#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`SymmetricKey::seal`] and [`SymmetricKey::open`], [`PublicKey::seal`] and [`SecretKey::open`], [`OpenError`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod asymmetric;
mod content;
mod error;
mod keys;
mod limits;
mod signature;
mod symmetric;

pub use content::Opened;
pub use error::{CiphertextDefect, ContentDefect, OpenError, PayloadKeyError, SealError};
pub use keys::{PublicKey, SecretKey, SymmetricKey};
pub use limits::{PAYLOAD_BYTES_MAX, PayloadLimits};

/// Value of the field `version` in a `WakuMessage` whose payload is sealed (RFC 14, RFC 26).
pub const VERSION: u32 = 1;
