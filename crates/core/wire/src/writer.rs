//! Writers of single fields, each with a function that computes its length in advance.

use crate::varint::{put_varint, varint_len};

/// Wire type of numbers of 64 bits.
const FIXED_64: u64 = 1;

/// Wire type of bytes, strings, embedded messages and packed numbers.
const LENGTH_DELIMITED: u64 = 2;

/// Number of bytes that [`put_varint_field`] appends.
#[inline]
pub fn varint_field_len(number: u32, value: u64) -> usize {
    tag_len(number) + varint_len(value)
}

/// Appends a varint field, wire type 0.
#[inline]
pub fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

/// Appends a number of 64 bits (`fixed64`, and `double` by its bits), wire type 1.
#[inline]
pub fn put_fixed64_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3 | FIXED_64);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Number of bytes that [`put_bytes_field`] appends for `len` bytes of content.
#[inline]
pub fn bytes_field_len(number: u32, len: usize) -> usize {
    tag_len(number) + varint_len(len as u64) + len
}

/// Appends a length-delimited field, wire type 2.
#[inline]
pub fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_bytes_header(out, number, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends tag and length of a length-delimited field whose `len` bytes of content the caller appends next.
#[inline]
pub fn put_bytes_header(out: &mut Vec<u8>, number: u32, len: usize) {
    put_varint(out, u64::from(number) << 3 | LENGTH_DELIMITED);
    put_varint(out, len as u64);
}

#[inline]
fn tag_len(number: u32) -> usize {
    varint_len(u64::from(number) << 3)
}
