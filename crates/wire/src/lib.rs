//! Protobuf wire format: a reader that borrows its input and cannot leave it, and a writer.
//!
//! Nothing here allocates while reading, panics on any input, or knows a message. A caller loops over the
//! fields of a message, takes those that it knows, and decides which bounds apply to the rest.
//!
//! ```
//! use undertone_wire::{FieldReader, FieldValue, put_bytes_field, put_varint_field};
//!
//! let mut message = Vec::new();
//! put_varint_field(&mut message, 1, 150);
//! put_bytes_field(&mut message, 2, b"testing");
//!
//! let mut reader = FieldReader::new(&message);
//! assert_eq!(reader.field(), Ok(Some((1, FieldValue::Varint(150)))));
//! assert_eq!(reader.field(), Ok(Some((2, FieldValue::Bytes(b"testing")))));
//! assert_eq!(reader.field(), Ok(None));
//! ```
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
    bytes_field_len, put_bytes_field, put_bytes_header, put_varint_field, varint_field_len,
};
