use undertone_wire::{FieldReader, put_varint, put_varint_field};

use super::*;

/// Error of reading all fields.
fn refused(input: &[u8]) -> WireError {
    let mut fields = FieldReader::new(input);
    loop {
        match fields.field() {
            Ok(field) => assert!(field.is_some(), "{input:02x?} is valid"),
            Err(error) => return error.into(),
        }
    }
}

#[test]
fn a_varint_over_64_bits_is_named_with_its_offset() {
    let mut too_large = vec![0x08, 0x00, 0x08];
    too_large.extend([0xff; 9]);
    too_large.push(0x02);
    assert_eq!(refused(&too_large), WireError::VarintOverflow { offset: 3 });
    assert_eq!(
        refused(&[0x80; 11]),
        WireError::VarintOverflow { offset: 0 }
    );
    assert_eq!(refused(&[0x80; 9]), WireError::Truncated { offset: 0 });
}

#[test]
fn an_unsupported_wire_type_is_named_with_the_offset_of_its_tag() {
    for wire_type in [3, 4, 6, 7] {
        assert_eq!(
            refused(&[0x08, 0x00, 0x08 | wire_type]),
            WireError::WireType {
                offset: 2,
                wire_type
            }
        );
    }
}

#[test]
fn values_past_the_end_are_truncated() {
    assert_eq!(refused(&[0x08]), WireError::Truncated { offset: 1 });
    assert_eq!(
        refused(&[0x09, 1, 2, 3]),
        WireError::Truncated { offset: 1 }
    );
    assert_eq!(
        refused(&[0x0a, 0x03, 7, 7]),
        WireError::Truncated { offset: 2 }
    );
    assert_eq!(refused(&[0x0d, 1]), WireError::Truncated { offset: 1 });
    let mut huge = vec![0x0a];
    put_varint(&mut huge, u64::MAX);
    assert_eq!(refused(&huge), WireError::Truncated { offset: 11 });
}

#[test]
fn field_numbers_have_29_bits_and_start_at_one() {
    let number = |number| WireError::FieldNumber { offset: 0, number };
    assert_eq!(refused(&[0x00, 0x00]), number(0));
    let mut beyond = Vec::new();
    put_varint_field(&mut beyond, 1 << 29, 1);
    assert_eq!(refused(&beyond), number(1 << 29));
}
