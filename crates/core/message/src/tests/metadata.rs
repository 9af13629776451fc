use proptest::prelude::*;

use super::*;

fn metadata(cluster_id: Option<u32>, shards: &[u32]) -> WakuMetadata {
    WakuMetadata {
        cluster_id,
        shards: shards.to_vec(),
    }
}

#[test]
fn shards_are_written_in_both_fields() {
    let golden = "08011000100710ac021a040007ac02";
    assert_eq!(
        hex::encode(metadata(Some(1), &[0, 7, 300]).encode().unwrap()),
        golden
    );
    assert_eq!(metadata(None, &[]).encode(), Ok(vec![]));
}

#[test]
fn field_3_goes_before_packed_2_before_unpacked_2() {
    let (unpacked, packed, current) = ([0x10, 1], [0x12, 1, 2], [0x1a, 1, 3]);
    let decode = |parts: &[&[u8]]| WakuMetadata::decode(&parts.concat()).unwrap().shards;
    assert_eq!(decode(&[&unpacked, &packed, &current]), [3]);
    assert_eq!(decode(&[&unpacked, &packed]), [2]);
    assert_eq!(decode(&[&unpacked, &unpacked]), [1, 1]);
    assert_eq!(
        decode(&[&unpacked, &[0x1a, 0]]),
        [1],
        "an empty field 3 says nothing"
    );
}

#[test]
fn the_size_is_bounded_both_ways() {
    assert_eq!(
        WakuMetadata::decode(&[0; 1025]),
        Err(MetadataError::TooLarge { size_bytes: 1025 })
    );
    let shards: Vec<u32> = (0..400).collect();
    assert!(matches!(
        metadata(None, &shards).encode(),
        Err(MetadataError::TooLarge { .. })
    ));
}

#[test]
fn malformed_metadata_is_refused() {
    assert_eq!(
        WakuMetadata::decode(&[0x1a, 2, 1, 0x80]),
        Err(MetadataError::Wire(WireError::Truncated { offset: 1 }))
    );
    let mut wide = Vec::new();
    put_varint_field(&mut wide, CLUSTER_ID, 1 << 32);
    assert_eq!(
        WakuMetadata::decode(&wide),
        Err(MetadataError::Exceeds32Bits {
            field: 1,
            value: 1 << 32
        })
    );
}

proptest! {
    #[test]
    fn metadata_round_trips(
        cluster_id: Option<u32>, shards in prop::collection::vec(any::<u32>(), 0..80),
    ) {
        let metadata = WakuMetadata { cluster_id, shards };
        prop_assert_eq!(WakuMetadata::decode(&metadata.encode().unwrap()), Ok(metadata));
    }

    #[test]
    fn arbitrary_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = WakuMetadata::decode(&input);
    }
}
