//! Tests of the encoding of assertions.

use super::*;

#[test]
fn claims_come_back_and_cut_ones_are_refused() {
    let assertions = Assertions {
        packets: PacketCount {
            sent: 1 << 40,
            accounted: 3,
        },
        meshes: vec![MeshAssertion {
            node: 1,
            topic: 2,
            remote: 300_000,
            remote_conn: 4,
        }],
        readings: vec![ReadingAssertion {
            client: 5,
            node: 6,
            started_ns: 7,
            ended_ns: 8,
            messages: vec![9, 1000],
        }],
    };
    let message = assertions.write();
    assert_eq!(Assertions::read(&message), Ok(assertions));
    for len in 0..message.len() {
        assert!(Assertions::read(&message[..len]).is_err(), "{len}");
    }
}
