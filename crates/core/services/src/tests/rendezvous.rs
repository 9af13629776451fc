//! Test vectors for all frames.

use bytes::Bytes;

use super::shard_namespace;

/// Returns a frame that py-libp2p 0.8.1 and Google's protobuf wrote; the program is beside the file.
pub(crate) fn golden(name: &str) -> Bytes {
    let line = include_str!("../../tests/vectors/rendezvous.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no vector {name}"));
    hex::decode(line).unwrap().into()
}

#[test]
fn the_namespace_of_a_shard_is_that_of_the_reference_node() {
    assert_eq!(shard_namespace(1, 7), "rs/1/7");
}
