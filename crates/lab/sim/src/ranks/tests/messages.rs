//! Tests of messages that are exchanged piece by piece.

use super::*;

/// A rank alone, whose messages to itself must be no longer than a bound.
struct Alone {
    bytes_max: usize,
    exchanges: usize,
}

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError> {
        assert!(messages[0].len() <= self.bytes_max + 1);
        self.exchanges += 1;
        Ok(messages)
    }
}

#[test]
fn a_long_letter_comes_in_pieces_and_is_put_together() {
    for (len, exchanges) in [(0, 1), (9, 1), (10, 1), (11, 2), (20, 2), (95, 10)] {
        let message: Vec<u8> = (0..len).collect();
        let mut rank = Alone {
            bytes_max: 10,
            exchanges: 0,
        };
        let received = exchange_in_pieces(&mut rank, vec![message.clone()], 10);
        assert_eq!(received, Ok(vec![message]));
        assert_eq!(rank.exchanges, exchanges, "{len} bytes");
    }
}

#[test]
fn a_piece_without_its_first_byte_is_refused() {
    struct Mute;
    impl Ranks for Mute {
        fn rank(&self) -> usize {
            0
        }
        fn count(&self) -> usize {
            1
        }
        fn exchange(&mut self, _: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError> {
            Ok(vec![Vec::new()])
        }
    }
    let received = exchange(&mut Mute, vec![vec![1]]);
    assert!(matches!(
        received,
        Err(RankError::Malformed { rank: 0, .. })
    ));
}
