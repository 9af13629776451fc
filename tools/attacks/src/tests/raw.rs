use bytes::{BufMut, BytesMut};
use libp2p::identity::Keypair;
use libp2p::swarm::StreamProtocol;
use tokio::sync::mpsc;

use super::frames::{BadLength, MAX_FRAME_BYTES, take_frame};
use super::{RawError, RawListener, RawPeer};

const PROTOCOL: StreamProtocol = StreamProtocol::new("/meshsub/1.2.0");

#[test]
fn frames_are_cut_whatever_the_chunks() {
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for byte in *b"\x02ab\x00\x81\x00c" {
        assert_eq!(take_frame(&mut buffer), Ok(None));
        buffer.put_u8(byte);
        while let Some(frame) = take_frame(&mut buffer).unwrap() {
            frames.push(frame);
        }
    }
    assert_eq!(frames, [&b"ab"[..], b"", b"c"]);
}

#[test]
fn a_length_over_the_bound_is_refused_before_anything_is_kept() {
    let over = MAX_FRAME_BYTES + 1;
    let mut prefix = BytesMut::new();
    for shift in [0, 7, 14] {
        prefix.put_u8((over >> shift).to_le_bytes()[0] | 0x80);
    }
    prefix.put_u8((over >> 21).to_le_bytes()[0]);
    assert_eq!(take_frame(&mut prefix), Err(BadLength));
    let mut endless = BytesMut::from(&[0xff; 11][..]);
    assert_eq!(take_frame(&mut endless), Err(BadLength));
}

#[tokio::test]
async fn a_dialler_and_a_listener_hear_each_other_and_the_end() {
    let (to_listener, mut at_listener) = mpsc::unbounded_channel();
    let (to_dialler, mut at_dialler) = mpsc::unbounded_channel();
    let addr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let key = Keypair::generate_ed25519;
    let listener = RawListener::listen(key(), &addr, PROTOCOL, Some(to_listener))
        .await
        .unwrap();
    let addr = listener.addr().clone();
    let dialling = RawPeer::dial(key(), &addr, PROTOCOL, Some(to_dialler));
    let (dialler, listener) = tokio::join!(dialling, listener.accept());
    let (mut dialler, mut listener) = (dialler.unwrap(), listener.unwrap());

    dialler.send(b"\x03abc\x01d").await.unwrap();
    assert_eq!(at_listener.recv().await.unwrap(), &b"abc"[..]);
    assert_eq!(at_listener.recv().await.unwrap(), &b"d"[..]);
    listener.send(b"\x01e").await.unwrap();
    assert_eq!(at_dialler.recv().await.unwrap(), &b"e"[..]);
    drop(listener);
    dialler.closed().await.unwrap();
}

#[tokio::test]
async fn a_protocol_that_the_other_side_lacks_is_named() {
    let addr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let key = Keypair::generate_ed25519;
    let listener = RawListener::listen(key(), &addr, PROTOCOL, None)
        .await
        .unwrap();
    let other = StreamProtocol::new("/nobody/speaks/this");
    let dialled = RawPeer::dial(key(), listener.addr(), other, None).await;
    let error = dialled.err().unwrap();
    assert!(matches!(error, RawError::Stream { .. }), "{error:?}");
    assert!(error.to_string().contains("/nobody/speaks/this"), "{error}");
}
