//! Records of simulated nodes, as peer exchange carries them.

use bytes::Bytes;

/// Length of a record, bytes: about that of a node with TCP and WebSocket addresses. Nodes accept up to 300.
const RECORD_BYTES: usize = 192;

/// Record of a node: its number, then zeros.
pub(crate) fn encode(node: u32) -> Bytes {
    let mut record = vec![0; RECORD_BYTES];
    record[..4].copy_from_slice(&node.to_le_bytes());
    record.into()
}

/// Number of a record's node; `None` for a record of another length.
pub(crate) fn decode(record: &[u8]) -> Option<u32> {
    let number = record.get(..4).filter(|_| record.len() == RECORD_BYTES)?;
    number.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_its_node() {
        let record = encode(70_000);
        assert_eq!(decode(&record), Some(70_000));
        assert_eq!(decode(&record[1..]), None);
        assert_eq!(decode(&[]), None);
    }
}
