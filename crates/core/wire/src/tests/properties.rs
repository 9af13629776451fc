//! Properties of reader and writer for arbitrary messages and arbitrary bytes.

use proptest::prelude::*;

use super::naive::{self, Naive, Stop};
use super::read_all;
use crate::*;

/// A field as a test writes it.
#[derive(Clone, Debug)]
enum Written {
    Number(u64),
    Bytes(Vec<u8>),
    Fixed32(u32),
    Fixed64(u64),
}

fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
}

fn any_field() -> impl Strategy<Value = (u32, Written)> {
    let number = prop_oneof![1u32..16, 1..=FIELD_NUMBER_MAX];
    let value = prop_oneof![
        any_number().prop_map(Written::Number),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Written::Bytes),
        any::<u32>().prop_map(Written::Fixed32),
        any::<u64>().prop_map(Written::Fixed64),
    ];
    (number, value)
}

fn write(out: &mut Vec<u8>, number: u32, field: &Written) {
    match field {
        Written::Number(value) => put_varint_field(out, number, *value),
        Written::Bytes(bytes) => put_bytes_field(out, number, bytes),
        Written::Fixed32(value) => {
            put_varint(out, u64::from(number) << 3 | 5);
            out.extend(value.to_le_bytes());
        }
        Written::Fixed64(value) => {
            put_varint(out, u64::from(number) << 3 | 1);
            out.extend(value.to_le_bytes());
        }
    }
}

fn is_read(value: FieldValue<'_>, written: &Written) -> bool {
    match written {
        Written::Number(number) => value == FieldValue::Varint(*number),
        Written::Bytes(bytes) => value == FieldValue::Bytes(bytes),
        Written::Fixed32(_) | Written::Fixed64(_) => value == FieldValue::Fixed,
    }
}

/// Any bytes, messages, and messages with a damaged byte, which reach further into the reader than noise.
fn any_input() -> impl Strategy<Value = Vec<u8>> {
    let message = prop::collection::vec(any_field(), 0..8).prop_map(|fields| {
        let mut out = Vec::new();
        for (number, field) in &fields {
            write(&mut out, *number, field);
        }
        out
    });
    let damaged = (message, any::<prop::sample::Index>(), any::<u8>());
    let damaged = damaged.prop_map(|(mut message, at, byte)| {
        if !message.is_empty() {
            let at = at.index(message.len());
            message[at] = byte;
        }
        message
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        prop::collection::vec(prop_oneof![0x78u8..0x88, 0xf0u8..=0xff], 0..24),
        damaged,
    ]
}

fn reason(error: FieldError) -> Stop {
    match error {
        FieldError::Varint { error, .. } => match error {
            VarintError::Incomplete => Stop::Incomplete,
            VarintError::Overflow => Stop::Overflow,
        },
        FieldError::Truncated { .. } => Stop::Truncated,
        FieldError::FieldNumber { .. } => Stop::FieldNumber,
        FieldError::WireType { .. } => Stop::WireType,
    }
}

proptest! {
    #[test]
    fn varints_round_trip_and_their_length_is_known_beforehand(value in any_number()) {
        let mut out = Vec::new();
        put_varint(&mut out, value);
        prop_assert_eq!(&out, &naive::encode_varint(value));
        prop_assert_eq!(out.len(), varint_len(value));
        prop_assert_eq!(read_varint(&out), Ok((value, out.len())));
        for cut in 0..out.len() {
            prop_assert_eq!(read_varint(&out[..cut]), Err(VarintError::Incomplete));
        }
        out.extend([0xff; 4]);
        prop_assert_eq!(read_varint(&out), Ok((value, out.len() - 4)), "what follows is left alone");
    }

    #[test]
    fn zigzag_round_trips(value: i64) {
        prop_assert_eq!(unzigzag(zigzag(value)), value);
    }

    #[test]
    fn messages_round_trip(fields in prop::collection::vec(any_field(), 0..8)) {
        let mut out = Vec::new();
        for (number, field) in &fields {
            let start = out.len();
            write(&mut out, *number, field);
            match field {
                Written::Number(value) => {
                    prop_assert_eq!(out.len() - start, varint_field_len(*number, *value));
                }
                Written::Bytes(bytes) => {
                    prop_assert_eq!(out.len() - start, bytes_field_len(*number, bytes.len()));
                }
                Written::Fixed32(_) | Written::Fixed64(_) => {}
            }
        }
        let read = read_all(&out).unwrap();
        prop_assert_eq!(read.len(), fields.len());
        for ((number, value), (expected, written)) in read.into_iter().zip(&fields) {
            prop_assert_eq!(number, *expected);
            prop_assert!(is_read(value, written), "{value:?} was written as {written:?}");
        }
    }

    #[test]
    fn a_cut_field_is_reported_wherever_it_is_cut(field in any_field()) {
        let mut out = Vec::new();
        write(&mut out, field.0, &field.1);
        for cut in 1..out.len() {
            let error = read_all(&out[..cut]).unwrap_err();
            let reported = matches!(reason(error), Stop::Incomplete | Stop::Truncated);
            prop_assert!(reported, "{cut}: {error:?}");
        }
    }

    /// The naive reader finds the same fields in any bytes, or stops for the same reason.
    #[test]
    fn any_bytes_are_read_as_by_the_naive_reader(input in any_input()) {
        match (read_all(&input), naive::fields(&input)) {
            (Ok(read), Ok(expected)) => {
                let read: Vec<_> = read
                    .into_iter()
                    .map(|(number, value)| {
                        let value = match value {
                            FieldValue::Varint(value) => Naive::Number(value),
                            FieldValue::Bytes(bytes) => Naive::Bytes(bytes.to_vec()),
                            FieldValue::Fixed => Naive::Fixed,
                        };
                        (u64::from(number), value)
                    })
                    .collect();
                prop_assert_eq!(read, expected);
            }
            (Err(error), Err(expected)) => prop_assert_eq!(reason(error), expected),
            (read, expected) => prop_assert!(false, "{read:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn any_bytes_are_a_varint_where_they_are_one_for_the_naive_reader(input in any_input()) {
        let read = read_varint(&input).map(|(value, len)| (value, &input[len..]));
        let read = read.map_err(|error| match error {
            VarintError::Incomplete => Stop::Incomplete,
            VarintError::Overflow => Stop::Overflow,
        });
        prop_assert_eq!(read, naive::varint(&input));
    }

    /// Offsets of errors lie inside the input, or at its end.
    #[test]
    fn errors_name_a_place_in_the_input(input in any_input()) {
        if let Err(error) = read_all(&input) {
            let (FieldError::Varint { offset, .. }
                | FieldError::Truncated { offset }
                | FieldError::FieldNumber { offset, .. }
                | FieldError::WireType { offset, .. }) = error;
            prop_assert!(offset <= input.len());
        }
    }
}
