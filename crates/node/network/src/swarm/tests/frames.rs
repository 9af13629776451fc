use std::collections::VecDeque;

use futures::task::noop_waker;
use undertone_gossip::MessageId;

use super::*;

/// Stream that returns its pieces, one for each read; `None` is a pause.
struct Pieces(VecDeque<Option<Vec<u8>>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        space: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut piece = match self.0.pop_front() {
            Some(Some(piece)) => piece,
            Some(None) => return Poll::Pending,
            None => return Poll::Ready(Ok(0)),
        };
        let rest = piece.split_off(piece.len().min(space.len()));
        space[..piece.len()].copy_from_slice(&piece);
        if !rest.is_empty() {
            self.0.push_front(Some(rest));
        }
        Poll::Ready(Ok(piece.len()))
    }
}

/// A frame of `len` bytes with its length prefix.
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
    let pieces = pieces.into_iter().map(Some).collect();
    FrameReader::new(Pieces(pieces), reading())
}

fn reading() -> Reading {
    Reading {
        frame_bytes_max: 1 << 20,
        long_frame_bytes: 2_000,
        in_transit: InTransit::default(),
        peer: PeerId::random(),
    }
}

fn next(reader: &mut FrameReader<Pieces>) -> Result<Option<Bytes>, ReadError> {
    match reader.poll_frame(&mut Context::from_waker(&noop_waker())) {
        Poll::Ready(read) => Ok(read?.map(|incoming| incoming.frame.bytes().clone())),
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

/// A cache holds frames for seconds, so their memory must not exceed the bytes that the cache counts.
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

#[test]
fn a_long_frame_that_has_to_be_waited_for_is_noted_until_the_router_has_it() {
    let long = frame(5_000);
    let (head, tail) = long.split_at(100);
    let pieces = [Some(head.to_vec()), None, Some(tail.to_vec()), None];
    let reading = reading();
    let (in_transit, peer) = (reading.in_transit.clone(), reading.peer);
    let mut reader = FrameReader::new(Pieces(pieces.into()), reading);
    let waker = noop_waker();
    let cx = &mut Context::from_waker(&waker);
    assert!(reader.poll_frame(cx).is_pending());
    assert_eq!(in_transit.take_changes(), [(peer, true)]);
    let Poll::Ready(Ok(Some(incoming))) = reader.poll_frame(cx) else {
        panic!("all of it is there");
    };
    assert_eq!(incoming.frame.bytes(), &long);
    assert!(reader.poll_frame(cx).is_pending());
    assert_eq!(in_transit.take_changes(), [], "the router does not have it");
    drop(incoming);
    assert_eq!(in_transit.take_changes(), [(peer, false)]);
}

#[test]
fn a_long_frame_ends_with_its_connection_and_others_are_not_noted() {
    let head = |len| {
        let mut head = frame(len);
        head.truncate(50);
        [Some(frame(5_000)), Some(head), None]
    };
    let waker = noop_waker();
    let cx = &mut Context::from_waker(&waker);
    for (len, noted) in [(1_990, false), (3_000, true)] {
        let reading = reading();
        let (in_transit, peer) = (reading.in_transit.clone(), reading.peer);
        let mut reader = FrameReader::new(Pieces(head(len).into()), reading);
        let Poll::Ready(Ok(Some(whole))) = reader.poll_frame(cx) else {
            panic!("all of the first is there");
        };
        assert!(whole.long_frame.is_none(), "nobody waited for it");
        assert!(reader.poll_frame(cx).is_pending());
        assert_eq!(!in_transit.take_changes().is_empty(), noted, "{len}");
        drop(reader);
        let ended = in_transit.take_changes();
        assert_eq!(ended.contains(&(peer, false)), noted, "{len}");
    }
}

/// A frame with one message that has this data.
fn message_frame(data: &[u8]) -> Vec<u8> {
    undertone_gossip::wire::message_frame(&undertone_gossip::Topic::new("t"), data).to_vec()
}

#[test]
fn a_message_that_has_to_be_waited_for_is_hashed_meanwhile() {
    let data: Vec<u8> = (0..40_000).map(|at| at as u8).collect();
    let whole = message_frame(&data);
    let (head, rest) = whole.split_at(100);
    let (middle, tail) = rest.split_at(20_000);
    let waker = noop_waker();
    let cx = &mut Context::from_waker(&waker);
    let pieces = [
        Some(head.to_vec()),
        None,
        Some(middle.to_vec()),
        None,
        Some([tail, &whole].concat()),
    ];
    let mut reader = FrameReader::new(Pieces(pieces.into()), reading());
    assert!(reader.poll_frame(cx).is_pending());
    assert!(reader.poll_frame(cx).is_pending());
    let Poll::Ready(Ok(Some(waited_for))) = reader.poll_frame(cx) else {
        panic!("all of it is there");
    };
    let at = whole.len() - data.len() - 3;
    let received = waited_for.frame.bytes().slice(at..at + data.len());
    assert_eq!(received, data);
    assert_eq!(
        waited_for.frame.id_of(&received),
        Some(MessageId::of(&data))
    );
    let Poll::Ready(Ok(Some(at_once))) = reader.poll_frame(cx) else {
        panic!("all of it is there");
    };
    assert_eq!(at_once.frame.bytes(), &whole);
    let received = at_once.frame.bytes().slice(at..at + data.len());
    assert_eq!(at_once.frame.id_of(&received), None, "the router hashes it");
}

#[test]
fn a_stream_that_waits_for_a_frame_keeps_no_memory() {
    let mut reader = FrameReader::new(
        Pieces(
            [
                Some(frame(5_000)),
                Some(frame(20_000)),
                None,
                Some(frame(3)),
            ]
            .into(),
        ),
        reading(),
    );
    assert_eq!(next(&mut reader).unwrap().unwrap(), frame(5_000));
    assert_eq!(next(&mut reader).unwrap().unwrap(), frame(20_000));
    let waiting = reader.poll_frame(&mut Context::from_waker(&noop_waker()));
    assert!(waiting.is_pending());
    assert_eq!(reader.buffer.capacity(), 0);
    assert_eq!(next(&mut reader).unwrap().unwrap(), frame(3));
}
