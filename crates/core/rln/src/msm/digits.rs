//! Decomposition of scalars into signed digits.

/// Number of windows of `bits` bits each for numbers below `2^number_bits`, with room for the carry.
pub(super) fn windows_for(number_bits: usize, bits: usize) -> usize {
    number_bits / bits + 1
}

/// Calls `each` with the position and value of each digit that is not 0. Digits are in
/// `-2^(bits-1) ..= 2^(bits-1)`, and `Σ digit * 2^(bits * position)` is the number.
///
/// The number must be below `2^(bits * windows - 1)`.
pub(super) fn signed_digits(
    number: [u64; 4],
    bits: usize,
    windows: usize,
    mut each: impl FnMut(usize, i32),
) {
    let half = 1 << (bits - 1);
    let mask = (1u64 << bits) - 1;
    let mut carry = 0;
    for window in 0..windows {
        let (limb, shift) = (window * bits / 64, window * bits % 64);
        let mut chunk = number.get(limb).map_or(0, |low| low >> shift);
        if shift + bits > 64 {
            chunk |= number.get(limb + 1).map_or(0, |high| high << (64 - shift));
        }
        let mut digit = (chunk & mask) as i32 + carry;
        carry = i32::from(digit > half);
        digit -= carry << bits;
        if digit != 0 {
            each(window, digit);
        }
    }
    debug_assert_eq!(carry, 0, "the number is too large for its windows");
}
