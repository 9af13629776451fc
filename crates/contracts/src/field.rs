//! Field elements as the chain writes them: unsigned 256-bit integers.

use alloy::primitives::U256;
use undertone_rln::{Fr, NonCanonical, fr_from_le, fr_to_le};

/// The integer that an element is.
#[must_use]
pub fn word_from_field(element: &Fr) -> U256 {
    U256::from_le_bytes(fr_to_le(element))
}

/// The element that an integer is.
///
/// # Errors
/// [`NonCanonical`] for the field's modulus and above.
pub fn field_from_word(word: U256) -> Result<Fr, NonCanonical> {
    fr_from_le(&word.to_le_bytes())
}
