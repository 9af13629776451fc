use proptest::prelude::*;

use super::*;
use crate::rendezvous::tests::golden;

fn limits() -> PeerRecordLimits {
    PeerRecordLimits::default()
}

fn record() -> WakuPeerRecord {
    WakuPeerRecord {
        peer: golden("peer"),
        sequence: 1_700_000_000,
        // /ip4/203.0.113.7/tcp/60000 and /dns4/a.example/tcp/443/wss
        addresses: ["04cb00710706ea60", "3609612e6578616d706c650601bbde03"]
            .map(|address| Bytes::from(hex::decode(address).unwrap()))
            .to_vec(),
        mix_key: String::new(),
    }
}

#[test]
fn a_record_is_written_with_all_its_fields() {
    let written = golden("record");
    assert_eq!(record().encode(), written);
    assert_eq!(WakuPeerRecord::decode(&written, &limits()), Ok(record()));
}

#[test]
fn a_record_with_a_mix_key_is_read() {
    let with_key = WakuPeerRecord {
        mix_key: "0a".repeat(32),
        ..record()
    };
    let decoded = WakuPeerRecord::decode(&with_key.encode(), &limits());
    assert_eq!(decoded, Ok(with_key));
}

#[test]
fn addresses_beyond_the_bounds_are_passed_over() {
    let address = |len| Bytes::from(vec![4; len]);
    let many = WakuPeerRecord {
        addresses: [257, 256]
            .map(address)
            .into_iter()
            .cycle()
            .take(50)
            .collect(),
        ..record()
    };
    let decoded = WakuPeerRecord::decode(
        &many.encode(),
        &PeerRecordLimits {
            max_bytes: 100_000,
            ..limits()
        },
    );
    assert_eq!(decoded.unwrap().addresses, vec![address(256); 16]);
}

#[test]
fn records_that_are_none_are_refused_with_the_fault() {
    let decode = |record: &[u8]| WakuPeerRecord::decode(record, &limits()).unwrap_err();
    assert_eq!(decode(&[]), RpcFrameError::Missing { field: "peerId" });
    let long = WakuPeerRecord {
        peer: vec![1; 65].into(),
        ..record()
    };
    assert!(matches!(
        decode(&long.encode()),
        RpcFrameError::TooLarge { max_bytes: 64, .. }
    ));
    let long = WakuPeerRecord {
        mix_key: "0".repeat(129),
        ..record()
    };
    assert!(matches!(
        decode(&long.encode()),
        RpcFrameError::TextTooLong {
            field: "mixKey",
            ..
        }
    ));
    assert!(matches!(
        decode(&[0; 4097]),
        RpcFrameError::TooLarge {
            max_bytes: 4096,
            ..
        }
    ));
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes: Vec<u8>) {
        let _ = WakuPeerRecord::decode(&bytes, &limits());
    }
}
