use std::collections::VecDeque;

use futures::task::noop_waker;

use super::*;

/// Gives what it was given, one piece for each read.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        space: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let Some(mut piece) = self.0.pop_front() else {
            return Poll::Ready(Ok(0));
        };
        let rest = piece.split_off(piece.len().min(space.len()));
        space[..piece.len()].copy_from_slice(&piece);
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        Poll::Ready(Ok(piece.len()))
    }
}

/// A frame of so many bytes, with its length before it.
fn frame(len: usize) -> Vec<u8> {
    let mut frame = vec![];
    let mut left = len;
    while left >= 0x80 {
        frame.push(left as u8 | 0x80);
        left >>= 7;
    }
    frame.push(left as u8);
    frame.extend((0..len).map(|at| at as u8));
    frame
}

fn reader(pieces: impl IntoIterator<Item = Vec<u8>>) -> FrameReader<Pieces> {
    FrameReader::new(Pieces(pieces.into_iter().collect()), 1 << 20)
}

fn next(reader: &mut FrameReader<Pieces>) -> Result<Option<Bytes>, ReadError> {
    match reader.poll_frame(&mut Context::from_waker(&noop_waker())) {
        Poll::Ready(read) => read,
        Poll::Pending => panic!("pieces are always ready"),
    }
}

#[test]
fn frames_come_whole_however_the_stream_is_cut() {
    let lens = [
        0, 1, 127, 128, 5_000, 20_000, 3, 8_189, 8_190, 8_191, 150_000, 7,
    ];
    let stream: Vec<u8> = lens.iter().flat_map(|len| frame(*len)).collect();
    for piece_bytes in [1, 3, 1_000, 16 << 10, stream.len()] {
        let mut reader = reader(stream.chunks(piece_bytes).map(<[u8]>::to_vec));
        for len in lens {
            let read = next(&mut reader).unwrap().expect("there is one more");
            assert_eq!(read, frame(len), "{len} in pieces of {piece_bytes}");
        }
        assert_eq!(next(&mut reader).unwrap(), None);
    }
}

/// What a cache holds for seconds must cost what it counts.
#[test]
fn a_small_frame_does_not_keep_the_memory_it_was_read_into() {
    let mut reader = reader([frame(200), frame(2_000), frame(8_000)]);
    for len in [200, 2_000, 8_000] {
        let read = next(&mut reader).unwrap().expect("there is one more");
        let bytes = read.len();
        assert!(bytes > len);
        let own = read.try_into_mut().expect("nobody else holds it");
        assert!(own.capacity() <= bytes, "{} for {bytes}", own.capacity());
    }
}

#[test]
fn a_stream_that_ends_within_a_frame_has_failed() {
    let mut cut = frame(100);
    cut.pop();
    let ended = next(&mut reader([cut]));
    assert!(
        matches!(ended, Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof)
    );
}

#[test]
fn a_frame_over_the_limit_is_refused_by_its_prefix() {
    let mut claim = frame((1 << 20) + 1);
    claim.truncate(4);
    let refused = next(&mut reader([claim]));
    assert!(matches!(refused, Err(ReadError::TooLarge { .. })));
}
