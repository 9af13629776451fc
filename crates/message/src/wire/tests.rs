use proptest::prelude::*;

use super::*;

fn one(input: &[u8]) -> Result<Option<(u32, Value)>, WireError> {
    Fields::new(input).next_field()
}

#[test]
fn zigzag_follows_the_table_of_the_protobuf_specification() {
    for (signed, unsigned) in [
        (0, 0),
        (-1, 1),
        (1, 2),
        (-2, 3),
        (i64::MAX, u64::MAX - 1),
        (i64::MIN, u64::MAX),
    ] {
        assert_eq!(zigzag(signed), unsigned);
        assert_eq!(unzigzag(unsigned), signed);
    }
}

#[test]
fn a_varint_holds_64_bits_and_no_more() {
    let mut largest = vec![0xff; 9];
    largest.push(0x01);
    assert_eq!(Fields::new(&largest).varint(), Ok(u64::MAX));
    largest[9] = 0x02;
    assert_eq!(
        Fields::new(&largest).varint(),
        Err(WireError::VarintOverflow { offset: 0 })
    );
    let endless = [0x80; 11];
    assert_eq!(
        Fields::new(&endless).varint(),
        Err(WireError::VarintOverflow { offset: 0 })
    );
    assert_eq!(
        Fields::new(&endless[..9]).varint(),
        Err(WireError::Truncated { offset: 0 })
    );
}

#[test]
fn a_padded_varint_is_accepted() {
    assert_eq!(Fields::new(&[0x81, 0x80, 0x00]).varint(), Ok(1));
}

#[test]
fn every_wire_type_is_read_or_refused() {
    assert_eq!(one(&[0x08, 0x05]), Ok(Some((1, Value::Varint(5)))));
    assert_eq!(
        one(&[0x09, 1, 2, 3, 4, 5, 6, 7, 8]),
        Ok(Some((1, Value::Fixed)))
    );
    assert_eq!(one(&[0x0a, 0x02, 7, 7]), Ok(Some((1, Value::Bytes(2..4)))));
    assert_eq!(one(&[0x0d, 1, 2, 3, 4]), Ok(Some((1, Value::Fixed))));
    for wire_type in [3, 4, 6, 7] {
        assert_eq!(
            one(&[0x08 | wire_type]),
            Err(WireError::WireType {
                offset: 0,
                wire_type
            })
        );
    }
}

#[test]
fn values_past_the_end_are_truncated() {
    assert_eq!(one(&[0x08]), Err(WireError::Truncated { offset: 1 }));
    assert_eq!(
        one(&[0x09, 1, 2, 3]),
        Err(WireError::Truncated { offset: 1 })
    );
    assert_eq!(
        one(&[0x0a, 0x03, 7, 7]),
        Err(WireError::Truncated { offset: 2 })
    );
    assert_eq!(one(&[0x0d, 1]), Err(WireError::Truncated { offset: 1 }));
    let mut huge = vec![0x0a];
    put_varint(&mut huge, u64::MAX);
    assert!(matches!(one(&huge), Err(WireError::Truncated { .. })));
}

#[test]
fn field_numbers_have_29_bits_and_start_at_one() {
    assert_eq!(
        one(&[0x00, 0x00]),
        Err(WireError::FieldNumber {
            offset: 0,
            number: 0
        })
    );
    let mut last = Vec::new();
    put_varint_field(&mut last, (1 << 29) - 1, 1);
    assert_eq!(one(&last), Ok(Some(((1 << 29) - 1, Value::Varint(1)))));
    let mut beyond = Vec::new();
    put_varint_field(&mut beyond, 1 << 29, 1);
    assert_eq!(
        one(&beyond),
        Err(WireError::FieldNumber {
            offset: 0,
            number: 1 << 29
        })
    );
}

proptest! {
    #[test]
    fn varints_round_trip_and_their_length_is_foretold(value: u64, shift in 0u32..64) {
        let value = value >> shift;
        let mut out = Vec::new();
        put_varint(&mut out, value);
        prop_assert_eq!(out.len(), varint_len(value));
        prop_assert_eq!(Fields::new(&out).varint(), Ok(value));
    }

    #[test]
    fn zigzag_round_trips(value: i64) {
        prop_assert_eq!(unzigzag(zigzag(value)), value);
    }
}
