//! Tests of what an answer of `/admin/v1/status` has room for.

use super::*;
use crate::fake::{peer, shard};

#[test]
fn an_answer_is_bounded_and_starts_with_the_peers_of_meshes() {
    let mut peers: Vec<_> = (0..PEERS_MAX + 7).map(|_| peer()).collect();
    peers[90].in_mesh = vec![shard(0)];
    peers[90].agent = "é".repeat(1000);
    peers[90].protocols = vec!["x".repeat(1000); PEER_PROTOCOLS_MAX + 3];
    peers[50].score = 1.0;
    peers[3].connected = Connectedness::CanConnect;
    let (first, second) = (peers[90].peer_id, peers[50].peer_id);
    let (listed, left_out) = most_important(peers);
    assert_eq!((listed.len(), left_out), (PEERS_MAX, 6));
    assert_eq!(listed[0].peer_id, first.to_string());
    assert_eq!(listed[1].peer_id, second.to_string());
    assert_eq!(listed[0].agent.chars().count(), PEER_TEXT_CHARS_MAX);
    assert_eq!(listed[0].protocols.len(), PEER_PROTOCOLS_MAX);
    assert_eq!(listed[0].protocols[0].len(), PEER_TEXT_CHARS_MAX);
    assert_eq!(listed[0].protocols_left_out, 3);
}
