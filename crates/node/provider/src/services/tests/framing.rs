use futures::executor::block_on;
use futures::io::Cursor;

use super::*;

fn read(bytes: &[u8], max: usize) -> io::Result<Option<Bytes>> {
    block_on(read_frame(&mut Cursor::new(bytes), max))
}

#[test]
fn what_is_written_is_read() {
    for len in [0, 1, 127, 128, 70_000] {
        let body = vec![7; len];
        let mut stream = Cursor::new(Vec::new());
        block_on(write_frame(&mut stream, &body)).unwrap();
        let framed = stream.into_inner();
        assert_eq!(read(&framed, len).unwrap().unwrap(), body);
    }
}

#[test]
fn a_stream_that_ends_before_a_frame_has_none() {
    assert_eq!(read(&[], 10).unwrap(), None);
}

#[test]
fn a_frame_that_is_cut_off_is_an_error() {
    for cut in [&[0x80][..], &[3, 1, 2]] {
        let error = read(cut, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

#[test]
fn a_frame_over_the_limit_is_refused_before_it_is_read() {
    for bytes in [
        &[11][..],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    ] {
        let error = read(bytes, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

#[test]
fn a_length_that_is_no_number_is_refused() {
    let error = read(&[0xff; 11], usize::MAX).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
