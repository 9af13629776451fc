//! Tests of the encoding of claims.

use super::*;

#[test]
fn claims_come_back_and_cut_ones_are_refused() {
    let claims = Claims {
        packets: PacketCount {
            sent: 1 << 40,
            accounted: 3,
        },
        meshes: vec![MeshClaim {
            node: 1,
            topic: 2,
            remote: 300_000,
            remote_conn: 4,
        }],
        readings: vec![ReadingClaim {
            client: 5,
            node: 6,
            started_ns: 7,
            ended_ns: 8,
            messages: vec![9, 1000],
        }],
    };
    let letter = claims.write();
    assert_eq!(Claims::read(&letter), Ok(claims));
    for len in 0..letter.len() {
        assert!(Claims::read(&letter[..len]).is_err(), "{len}");
    }
}
