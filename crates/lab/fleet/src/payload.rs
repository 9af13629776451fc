//! Payloads of messages that real nodes publish.

/// Returns an incompressible payload of `size_bytes`, different for each number.
pub(crate) fn incompressible(number: u64, size_bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (number << 32) ^ size_bytes as u64;
    let mut bytes = Vec::with_capacity(size_bytes + 8);
    while bytes.len() < size_bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size_bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_have_their_size_and_differ() {
        for size in [0, 8, 2_001] {
            assert_eq!(incompressible(3, size).len(), size);
        }
        assert_ne!(incompressible(3, 2_000), incompressible(4, 2_000));
    }
}
