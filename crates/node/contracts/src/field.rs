//! Conversion of field elements to and from the chain's unsigned 256-bit integers.

use alloy::primitives::U256;
use undertone_rln::{Fr, NonCanonical, fr_from_le, fr_to_le};

/// Converts a field element to an integer.
#[must_use]
pub fn word_from_field(element: &Fr) -> U256 {
    U256::from_le_bytes(fr_to_le(element))
}

/// Converts an integer to a field element.
///
/// # Errors
/// [`NonCanonical`] when `word` is not below the field's modulus.
pub fn field_from_word(word: U256) -> Result<Fr, NonCanonical> {
    fr_from_le(&word.to_le_bytes())
}
