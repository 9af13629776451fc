//! The form in which values cross to the library and back.

use uniffi_meta::Type;

use super::names::number_bytes;

/// Type of C in which values cross that are more than a number.
pub(crate) const BUFFER: &str = "rust_buffer";

/// Returns the type with which a value crosses to the library and back.
pub(crate) fn lowered(ty: &Type) -> &'static str {
    match ty {
        Type::UInt8 => "uint8_t",
        Type::Int8 | Type::Boolean => "int8_t",
        Type::UInt16 => "uint16_t",
        Type::Int16 => "int16_t",
        Type::UInt32 => "uint32_t",
        Type::Int32 => "int32_t",
        Type::UInt64 => "uint64_t",
        Type::Int64 => "int64_t",
        Type::Float32 => "float",
        Type::Float64 => "double",
        _ => BUFFER,
    }
}

/// Returns the type of an optional value; `None` for another type.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Optional { inner_type } => Some(inner_type),
        _ => None,
    }
}

/// Whether C has a way to return the type: of optional values, those that have a function to free them.
pub(crate) fn is_returned(ty: &Type) -> bool {
    optional(ty).is_none_or(|inner| {
        number_bytes(inner).is_none()
            && !matches!(inner, Type::Boolean | Type::Float32 | Type::Float64)
    })
}
