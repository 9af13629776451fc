//! Names and types of C for those of an interface.

use uniffi_meta::Type;

/// Prefix of everything that the header defines.
pub(crate) struct CNames {
    pub(crate) namespace: String,
}

impl CNames {
    /// Returns the name of a type's functions in the source, without prefix: `string_list`, `node_error`.
    pub(crate) fn short(&self, ty: &Type) -> String {
        match ty {
            Type::UInt8 => "u8".to_owned(),
            Type::Int8 => "i8".to_owned(),
            Type::UInt16 => "u16".to_owned(),
            Type::Int16 => "i16".to_owned(),
            Type::UInt32 => "u32".to_owned(),
            Type::Int32 => "i32".to_owned(),
            Type::UInt64 => "u64".to_owned(),
            Type::Int64 => "i64".to_owned(),
            Type::Float32 => "f32".to_owned(),
            Type::Float64 => "f64".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::String => "string".to_owned(),
            Type::Bytes => "bytes".to_owned(),
            Type::Optional { inner_type } => format!("optional_{}", self.short(inner_type)),
            Type::Sequence { inner_type } => format!("{}_list", self.short(inner_type)),
            Type::Map {
                key_type,
                value_type,
            } => format!("{}_{}_map", self.short(key_type), self.short(value_type)),
            Type::Box { inner_type } => self.short(inner_type),
            other => self.definition(other.name().unwrap_or("unnamed")),
        }
    }

    /// Returns the name of a definition in C, without prefix. A name that begins with the namespace loses it.
    pub(crate) fn definition(&self, name: &str) -> String {
        let snake = snake(name);
        let prefix = format!("{}_", self.namespace);
        snake.strip_prefix(&prefix).unwrap_or(&snake).to_owned()
    }

    /// Adds the prefix to a name.
    pub(crate) fn full(&self, short: &str) -> String {
        format!("{}_{short}", self.namespace)
    }

    /// Returns a constant's name: `UNDERTONE_NODE_ERROR_STOPPED`.
    pub(crate) fn constant(&self, definition: &str, variant: &str) -> String {
        let definition = self.definition(definition);
        let name = format!("{}_{definition}_{}", self.namespace, snake(variant));
        name.to_ascii_uppercase()
    }

    /// Returns the type in C of a value: of a field, an item of a list, or a result.
    pub(crate) fn value(&self, ty: &Type) -> String {
        match ty {
            Type::UInt8 => "uint8_t".to_owned(),
            Type::Int8 => "int8_t".to_owned(),
            Type::UInt16 => "uint16_t".to_owned(),
            Type::Int16 => "int16_t".to_owned(),
            Type::UInt32 => "uint32_t".to_owned(),
            Type::Int32 => "int32_t".to_owned(),
            Type::UInt64 => "uint64_t".to_owned(),
            Type::Int64 => "int64_t".to_owned(),
            Type::Float32 => "float".to_owned(),
            Type::Float64 => "double".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::String => "const char *".to_owned(),
            Type::Optional { inner_type } if **inner_type == Type::String => {
                "const char *".to_owned()
            }
            Type::Optional { inner_type } => format!("const {} *", self.value(inner_type)),
            Type::Box { inner_type } => self.value(inner_type),
            other => self.full(&self.short(other)),
        }
    }

    /// Returns the declaration of a variable, with the star beside the name as is usual in C.
    pub(crate) fn declare(&self, ty: &Type, name: &str) -> String {
        declare(&self.value(ty), name)
    }

    /// Returns the declaration of a parameter: structs are passed by pointer.
    pub(crate) fn parameter(&self, ty: &Type, name: &str) -> String {
        if is_struct(ty) {
            format!("const {} *{name}", self.value(ty))
        } else {
            self.declare(ty, name)
        }
    }
}

/// Joins a type and a name.
pub(crate) fn declare(ty: &str, name: &str) -> String {
    if ty.ends_with('*') {
        format!("{ty}{name}")
    } else {
        format!("{ty} {name}")
    }
}

/// Whether a type is a struct in C, if it is not an enum.
pub(crate) fn is_struct(ty: &Type) -> bool {
    match ty {
        Type::Bytes | Type::Sequence { .. } | Type::Map { .. } | Type::Record { .. } => true,
        Type::Box { inner_type } => is_struct(inner_type),
        _ => false,
    }
}

/// Returns the width in bytes of a number, as it is written.
pub(crate) fn number_bytes(ty: &Type) -> Option<usize> {
    match ty {
        Type::UInt8 | Type::Int8 => Some(1),
        Type::UInt16 | Type::Int16 => Some(2),
        Type::UInt32 | Type::Int32 => Some(4),
        Type::UInt64 | Type::Int64 => Some(8),
        _ => None,
    }
}

/// Turns `CamelCase` into `snake_case`.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before_is_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before_is_lower {
            snake.push('_');
        }
        before_is_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
