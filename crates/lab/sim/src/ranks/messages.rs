//! Exchange of messages of any length, piece by piece.

use crate::ranks::{RankError, Ranks};

/// Maximum number of bytes that a rank sends or receives in one exchange.
const EXCHANGE_BYTES_MAX: usize = 256 << 20;

/// Exchanges messages that may be too long for one exchange.
pub(crate) fn exchange(
    ranks: &mut dyn Ranks,
    messages: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, RankError> {
    exchange_in_pieces(ranks, messages, EXCHANGE_BYTES_MAX)
}

fn exchange_in_pieces(
    ranks: &mut dyn Ranks,
    messages: Vec<Vec<u8>>,
    bytes_max: usize,
) -> Result<Vec<Vec<u8>>, RankError> {
    let piece_bytes = (bytes_max / ranks.count().max(1)).max(1);
    let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
    let mut received = vec![Vec::new(); ranks.count()];
    for round in 0.. {
        let from = round * piece_bytes;
        let has_more = longest > from + piece_bytes;
        // The first byte says whether the sender has more for any rank, so all agree on the number of rounds.
        let pieces = messages.iter().map(|message| {
            let rest = message.get(from..).unwrap_or_default();
            let piece = &rest[..rest.len().min(piece_bytes)];
            [&[u8::from(has_more)], piece].concat()
        });
        let mut goes_on = false;
        for (rank, piece) in ranks.exchange(pieces.collect())?.iter().enumerate() {
            let Some((has_more, piece)) = piece.split_first() else {
                let what = "piece of a message";
                return Err(RankError::Malformed { rank, what });
            };
            goes_on |= *has_more != 0;
            received[rank].extend_from_slice(piece);
        }
        if !goes_on {
            break;
        }
    }
    Ok(received)
}

#[cfg(test)]
#[path = "tests/messages.rs"]
mod tests;
