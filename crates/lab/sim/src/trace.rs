//! Hash over the events of a node, for comparing runs.

/// Mixes an event into the trace of a node.
pub(crate) fn mix(trace: &mut u64, words: [u64; 3], bytes: &[u8]) {
    let mut state = *trace;
    let mut mix = |word: u64| {
        state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^= state >> 29;
    };
    words.into_iter().for_each(&mut mix);
    // The first bytes of a frame identify it, except for a long payload.
    for chunk in bytes[..bytes.len().min(192)].chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(u64::from_le_bytes(word));
    }
    *trace = state;
}
