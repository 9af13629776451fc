//! Golden vectors, limits, and properties compared with a naive reader.

use crate::*;

mod naive;
mod properties;

fn one(input: &[u8]) -> Result<Option<(u32, FieldValue<'_>)>, FieldError> {
    FieldReader::new(input).field()
}

fn read_all(input: &[u8]) -> Result<Vec<(u32, FieldValue<'_>)>, FieldError> {
    let mut reader = FieldReader::new(input);
    let mut fields = Vec::new();
    while let Some(field) = reader.field()? {
        fields.push(field);
    }
    Ok(fields)
}

/// The examples of the protobuf documentation, "Encoding".
#[test]
fn the_vectors_of_the_protobuf_documentation() {
    let mut number = Vec::new();
    put_varint_field(&mut number, 1, 150);
    assert_eq!(number, [0x08, 0x96, 0x01]);
    assert_eq!(one(&number), Ok(Some((1, FieldValue::Varint(150)))));

    let mut text = Vec::new();
    put_bytes_field(&mut text, 2, b"testing");
    assert_eq!(text, b"\x12\x07testing");
    assert_eq!(one(&text), Ok(Some((2, FieldValue::Bytes(b"testing")))));

    let mut embedded = Vec::new();
    put_bytes_header(&mut embedded, 3, varint_field_len(1, 150));
    put_varint_field(&mut embedded, 1, 150);
    assert_eq!(embedded, [0x1a, 0x03, 0x08, 0x96, 0x01]);
    assert_eq!(one(&embedded), Ok(Some((3, FieldValue::Bytes(&number)))));

    let packed = [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05];
    let Ok(Some((6, FieldValue::Bytes(content)))) = one(&packed) else {
        panic!("field 6 holds packed numbers");
    };
    let mut numbers = FieldReader::new(content);
    let [a, b, c] = [(); 3].map(|()| numbers.varint());
    assert_eq!([a, b, c], [Ok(3), Ok(270), Ok(86_942)]);
    assert!(numbers.is_empty());
}

/// Field 7 of a span of OpenTelemetry, which is a `fixed64`.
#[test]
fn numbers_of_64_bits_stand_in_little_endian() {
    let mut number = Vec::new();
    put_fixed64_field(&mut number, 7, 0x0102_0304_0506_0708);
    assert_eq!(number, [0x39, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(one(&number), Ok(Some((7, FieldValue::Fixed))));
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
    assert_eq!(read_varint(&largest), Ok((u64::MAX, 10)));
    for last in 2..=0xff {
        largest[9] = last;
        assert_eq!(read_varint(&largest), Err(VarintError::Overflow), "{last}");
    }
    for last in [0x80, 0x81] {
        let endless = [&[0x80; 9][..], &[last, 0]].concat();
        assert_eq!(read_varint(&endless), Err(VarintError::Overflow));
        assert_eq!(read_varint(&endless[..10]), Err(VarintError::Overflow));
        assert_eq!(read_varint(&endless[..9]), Err(VarintError::Incomplete));
    }
    assert_eq!(read_varint(&[]), Err(VarintError::Incomplete));
}

#[test]
fn a_padded_varint_is_accepted() {
    assert_eq!(read_varint(&[0x81, 0x80, 0x00]), Ok((1, 3)));
    let longest = [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
    assert_eq!(read_varint(&longest), Ok((1, 10)));
}

#[test]
fn every_wire_type_is_read_or_refused() {
    assert_eq!(one(&[0x08, 0x05]), Ok(Some((1, FieldValue::Varint(5)))));
    assert_eq!(
        one(&[0x09, 1, 2, 3, 4, 5, 6, 7, 8]),
        Ok(Some((1, FieldValue::Fixed)))
    );
    assert_eq!(
        one(&[0x0a, 0x02, 7, 7]),
        Ok(Some((1, FieldValue::Bytes(&[7, 7]))))
    );
    assert_eq!(one(&[0x0d, 1, 2, 3, 4]), Ok(Some((1, FieldValue::Fixed))));
    for wire_type in [3, 4, 6, 7] {
        let error = FieldError::WireType {
            offset: 2,
            wire_type,
        };
        assert_eq!(read_all(&[0x08, 0x00, 0x08 | wire_type]), Err(error));
    }
}

#[test]
fn values_past_the_end_are_truncated() {
    let incomplete = |offset| FieldError::Varint {
        offset,
        error: VarintError::Incomplete,
    };
    assert_eq!(one(&[0x88]), Err(incomplete(0)));
    assert_eq!(one(&[0x08]), Err(incomplete(1)));
    assert_eq!(one(&[0x0a]), Err(incomplete(1)));
    let truncated = |offset| FieldError::Truncated { offset };
    assert_eq!(one(&[0x09, 1, 2, 3]), Err(truncated(1)));
    assert_eq!(one(&[0x0a, 0x03, 7, 7]), Err(truncated(2)));
    assert_eq!(one(&[0x0d, 1]), Err(truncated(1)));
    let mut huge = vec![0x0a];
    put_varint(&mut huge, u64::MAX);
    assert_eq!(one(&huge), Err(truncated(11)));
}

#[test]
fn field_numbers_have_29_bits_and_start_at_one() {
    let refused = |number| FieldError::FieldNumber { offset: 0, number };
    assert_eq!(one(&[0x00, 0x00]), Err(refused(0)));
    assert_eq!(one(&[0x00]), Err(refused(0)), "before the value is read");
    let mut last = Vec::new();
    put_varint_field(&mut last, FIELD_NUMBER_MAX, 1);
    assert_eq!(
        one(&last),
        Ok(Some((FIELD_NUMBER_MAX, FieldValue::Varint(1))))
    );
    let mut beyond = Vec::new();
    put_varint_field(&mut beyond, FIELD_NUMBER_MAX + 1, 1);
    assert_eq!(one(&beyond), Err(refused(1 << 29)));
}

#[test]
fn a_tag_is_returned_whatever_its_number() {
    for (input, number) in [
        (&[0x00, 0x07][..], 0),
        (&[0x80, 0x80, 0x80, 0x80, 0x10, 7], 1 << 29),
    ] {
        let mut reader = FieldReader::new(input);
        let tag = reader.tag().unwrap().unwrap();
        assert_eq!((tag.number, tag.wire_type, tag.offset), (number, 0, 0));
        assert_eq!(reader.value(tag), Ok(FieldValue::Varint(7)));
        assert_eq!(reader.tag(), Ok(None));
    }
}

#[test]
fn the_offset_counts_what_was_read() {
    let mut reader = FieldReader::new(&[0x0a, 0x02, 7, 7, 0x08, 0x05]);
    assert_eq!(reader.offset(), 0);
    reader.field().unwrap();
    assert_eq!(reader.offset(), 4);
    reader.field().unwrap();
    assert_eq!(reader.offset(), 6);
    assert!(reader.is_empty());
}
