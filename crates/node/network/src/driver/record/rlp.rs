//! RLP encoding (recursive length prefix), as far as records need it.

/// Largest payload length that fits into the first byte.
const SHORT_MAX: usize = 55;

/// Encodes a string of bytes.
pub(super) fn bytes(value: &[u8]) -> Vec<u8> {
    match value {
        [byte] if *byte < 0x80 => vec![*byte],
        _ => prefixed(0x80, value),
    }
}

/// Encodes a whole number, big-endian without leading zeros.
pub(super) fn integer(value: u64) -> Vec<u8> {
    let all = value.to_be_bytes();
    let zeros = all.iter().take_while(|b| **b == 0).count();
    bytes(&all[zeros..])
}

/// Encodes a list of items that are already encoded.
pub(super) fn list(items: &[u8]) -> Vec<u8> {
    prefixed(0xc0, items)
}

fn prefixed(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(content.len() + 9);
    match u8::try_from(content.len()) {
        Ok(len) if content.len() <= SHORT_MAX => encoded.push(kind + len),
        _ => {
            let len = content.len().to_be_bytes();
            let zeros = len.iter().take_while(|b| **b == 0).count();
            let digits = &len[zeros..];
            // There are at most eight digits.
            encoded.push(kind + 55 + u8::try_from(digits.len()).unwrap_or(8));
            encoded.extend(digits);
        }
    }
    encoded.extend(content);
    encoded
}
