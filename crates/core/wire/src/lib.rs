#![doc = include_str!("../README.md")]
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod reader;
mod varint;
mod writer;

#[cfg(test)]
mod tests;

pub use reader::{FIELD_NUMBER_MAX, FieldError, FieldReader, FieldValue, Tag};
pub use varint::{
    VARINT_LEN_MAX, VarintError, put_varint, read_varint, unzigzag, varint_len, zigzag,
};
pub use writer::{
    bytes_field_len, put_bytes_field, put_bytes_header, put_fixed64_field, put_varint_field,
    varint_field_len,
};
