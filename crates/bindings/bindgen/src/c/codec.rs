//! Functions that write the types of an interface for the library, read them, and free what was read.

use std::fmt::Write as _;

use uniffi_meta::{EnumMetadata, RecordMetadata, Type};

use super::interface::{CInterface, fields_of, is_flat};
use super::names::{CNames, declare, is_struct, number_bytes};

/// Returns the functions `write_…`, `read_…` and `clear_…`, and the `…_free` of the header.
pub(crate) fn functions(interface: &CInterface<'_>) -> String {
    let names = &interface.names;
    let mut text = String::new();
    // Declared first, because types refer to each other.
    for ty in &interface.written {
        line(&mut text, &format!("{};", writes(names, ty)));
    }
    for ty in &interface.read {
        line(&mut text, &format!("{};", reads(names, ty)));
    }
    for ty in &interface.cleared {
        line(&mut text, &format!("{};", clears(names, ty)));
    }
    for ty in &interface.written {
        function(&mut text, &writes(names, ty), &write_body(interface, ty));
    }
    for ty in &interface.read {
        function(&mut text, &reads(names, ty), &read_body(interface, ty));
    }
    for ty in &interface.cleared {
        function(&mut text, &clears(names, ty), &clear_body(interface, ty));
    }
    for ty in freed(interface) {
        let value = names.value(ty);
        let short = names.short(ty);
        let signature = format!("void {value}_free({value} *value)");
        let body = [
            "if (value != NULL) {".to_owned(),
            format!("    clear_{short}(value);"),
            "    free(value);".to_owned(),
            "}".to_owned(),
        ];
        function(&mut text, &signature, &body);
    }
    text
}

/// Types of which callers get a struct that they free.
pub(crate) fn freed<'a>(interface: &'a CInterface<'_>) -> Vec<&'a Type> {
    let results = interface.calls.iter().filter_map(|call| call.returns);
    let results = results.map(|ty| match ty {
        Type::Optional { inner_type } => &**inner_type,
        other => other,
    });
    let results: Vec<_> = results.collect();
    let errors: Vec<_> = interface
        .calls
        .iter()
        .filter_map(|call| call.throws)
        .collect();
    let is_freed = |ty: &&Type| {
        let is_result = results.contains(ty) && (is_struct(ty) || has_fields(interface, ty));
        is_result || errors.contains(ty)
    };
    interface.read.iter().filter(is_freed).collect()
}

/// Whether a type is an enum with fields, which is a struct in C.
pub(crate) fn has_fields(interface: &CInterface<'_>, ty: &Type) -> bool {
    matches!(ty, Type::Enum { name, .. } if !interface.is_flat(name))
}

fn writes(names: &CNames, ty: &Type) -> String {
    let value = declare(&constant_value(&names.value(ty)), "*value");
    format!("static void write_{}(writer *to, {value})", names.short(ty))
}

fn reads(names: &CNames, ty: &Type) -> String {
    let value = names.declare(ty, "*value");
    format!(
        "static void read_{}(reader *from, {value})",
        names.short(ty)
    )
}

fn clears(names: &CNames, ty: &Type) -> String {
    let value = names.declare(ty, "*value");
    format!("static void clear_{}({value})", names.short(ty))
}

/// Returns the type of a value that is not changed.
fn constant_value(value: &str) -> String {
    match value.strip_suffix('*') {
        Some(_) => format!("{value}const"),
        None => format!("const {value}"),
    }
}

fn write_body(interface: &CInterface<'_>, ty: &Type) -> Vec<String> {
    let names = &interface.names;
    if let Some(width) = number_bytes(ty) {
        return vec![format!("put_number(to, (uint64_t)*value, {width});")];
    }
    match ty {
        Type::Boolean => lines("put_number(to, *value ? 1 : 0, 1);"),
        Type::Float32 => {
            lines("uint32_t bits;\nmemcpy(&bits, value, sizeof bits);\nput_number(to, bits, 4);")
        }
        Type::Float64 => {
            lines("uint64_t bits;\nmemcpy(&bits, value, sizeof bits);\nput_number(to, bits, 8);")
        }
        Type::String => {
            lines("put_count(to, *value == NULL ? 0 : strlen(*value));\nput_text(to, *value);")
        }
        Type::Bytes => lines("put_count(to, value->length);\nput(to, value->data, value->length);"),
        Type::Optional { inner_type } => {
            let inner = names.short(inner_type);
            let given = if **inner_type == Type::String {
                "value"
            } else {
                "*value"
            };
            vec![
                "put_number(to, *value == NULL ? 0 : 1, 1);".to_owned(),
                "if (*value != NULL) {".to_owned(),
                format!("    write_{inner}(to, {given});"),
                "}".to_owned(),
            ]
        }
        Type::Sequence { inner_type } => each_item(
            "put_count(to, value->count);",
            &[format!(
                "write_{}(to, &value->items[at]);",
                names.short(inner_type)
            )],
        ),
        Type::Map {
            key_type,
            value_type,
        } => each_item(
            "put_count(to, value->count);",
            &[
                format!(
                    "write_{}(to, &value->items[at].key);",
                    names.short(key_type)
                ),
                format!(
                    "write_{}(to, &value->items[at].value);",
                    names.short(value_type)
                ),
            ],
        ),
        Type::Record { name, .. } => fields(
            interface.records.get(name.as_str()).copied(),
            |field, ty| format!("write_{}(to, &value->{field});", names.short(ty)),
        ),
        Type::Enum { name, .. } => {
            let variants = interface
                .enums
                .get(name.as_str())
                .map_or(0, |one| one.variants.len());
            vec![
                format!("if ((int)*value < 1 || (int)*value > {variants}) {{"),
                "    to->fault = \"an enum has a value that it does not define\";".to_owned(),
                "}".to_owned(),
                "put_number(to, (uint64_t)*value, 4);".to_owned(),
            ]
        }
        Type::Box { inner_type } => write_body(interface, inner_type),
        _ => Vec::new(),
    }
}

fn read_body(interface: &CInterface<'_>, ty: &Type) -> Vec<String> {
    let names = &interface.names;
    if let Some(width) = number_bytes(ty) {
        return vec![format!(
            "*value = ({})get_number(from, {width});",
            names.value(ty)
        )];
    }
    match ty {
        Type::Boolean => lines("*value = get_number(from, 1) != 0;"),
        Type::Float32 => lines(
            "uint32_t bits = (uint32_t)get_number(from, 4);\nmemcpy(value, &bits, sizeof bits);",
        ),
        Type::Float64 => {
            lines("uint64_t bits = get_number(from, 8);\nmemcpy(value, &bits, sizeof bits);")
        }
        Type::String => lines("*value = get_text(from, get_count(from));"),
        Type::Bytes => lines(
            "size_t length = get_count(from);\nvalue->data = (uint8_t *)get_text(from, length);\n\
             value->length = value->data == NULL ? 0 : length;",
        ),
        Type::Optional { inner_type } if **inner_type == Type::String => lines(
            "*value = NULL;\nif (get_number(from, 1) != 0) {\n    read_string(from, value);\n}",
        ),
        Type::Optional { inner_type } => {
            let inner = names.declare(inner_type, "*given");
            vec![
                "*value = NULL;".to_owned(),
                "if (get_number(from, 1) != 0) {".to_owned(),
                format!("    {inner} = get_memory(from, 1, sizeof *given);"),
                "    if (given != NULL) {".to_owned(),
                format!("        read_{}(from, given);", names.short(inner_type)),
                "        *value = given;".to_owned(),
                "    }".to_owned(),
                "}".to_owned(),
            ]
        }
        Type::Sequence { inner_type } => read_items(&[format!(
            "read_{}(from, &value->items[at]);",
            names.short(inner_type)
        )]),
        Type::Map {
            key_type,
            value_type,
        } => read_items(&[
            format!(
                "read_{}(from, &value->items[at].key);",
                names.short(key_type)
            ),
            format!(
                "read_{}(from, &value->items[at].value);",
                names.short(value_type)
            ),
        ]),
        Type::Record { name, .. } => fields(
            interface.records.get(name.as_str()).copied(),
            |field, ty| format!("read_{}(from, &value->{field});", names.short(ty)),
        ),
        Type::Enum { name, .. } => match interface.enums.get(name.as_str()) {
            Some(one) => read_enum(names, ty, one),
            None => Vec::new(),
        },
        Type::Box { inner_type } => read_body(interface, inner_type),
        _ => Vec::new(),
    }
}

fn read_enum(names: &CNames, ty: &Type, one: &EnumMetadata) -> Vec<String> {
    let (target, kind) = if is_flat(one) {
        ("*value", names.value(ty))
    } else {
        ("value->kind", format!("{}_kind", names.value(ty)))
    };
    let mut body = vec![
        "uint64_t variant = get_number(from, 4);".to_owned(),
        format!("if (variant < 1 || variant > {}) {{", one.variants.len()),
        "    from->fault = MISMATCH;".to_owned(),
        "    variant = 1;".to_owned(),
        "}".to_owned(),
        format!("{target} = ({kind})variant;"),
    ];
    if is_flat(one) {
        return body;
    }
    body.push("switch (variant) {".to_owned());
    for (number, variant) in (1..).zip(&one.variants) {
        body.push(format!("case {number}:"));
        for field in &variant.fields {
            let short = names.short(&field.ty);
            body.push(format!("    read_{short}(from, &value->{});", field.name));
        }
        body.push("    break;".to_owned());
    }
    body.extend(["default:", "    break;", "}"].map(str::to_owned));
    body
}

fn clear_body(interface: &CInterface<'_>, ty: &Type) -> Vec<String> {
    let names = &interface.names;
    match ty {
        Type::String => lines("free((void *)*value);\n*value = NULL;"),
        Type::Bytes => lines("free((void *)value->data);\nvalue->data = NULL;\nvalue->length = 0;"),
        Type::Optional { inner_type } if **inner_type == Type::String => {
            lines("clear_string(value);")
        }
        Type::Optional { inner_type } => {
            let inner = names.declare(inner_type, "*given");
            let cast = names.declare(inner_type, "*");
            vec![
                format!("{inner} = ({})*value;", cast.trim_end()),
                "if (given != NULL) {".to_owned(),
                format!("    clear_{}(given);", names.short(inner_type)),
                "    free(given);".to_owned(),
                "}".to_owned(),
                "*value = NULL;".to_owned(),
            ]
        }
        Type::Sequence { inner_type } => clear_items(&[format!(
            "clear_{}(&value->items[at]);",
            names.short(inner_type)
        )]),
        Type::Map {
            key_type,
            value_type,
        } => clear_items(&[
            format!("clear_{}(&value->items[at].key);", names.short(key_type)),
            format!(
                "clear_{}(&value->items[at].value);",
                names.short(value_type)
            ),
        ]),
        Type::Record { name, .. } => fields(
            interface.records.get(name.as_str()).copied(),
            |field, ty| format!("clear_{}(&value->{field});", names.short(ty)),
        ),
        Type::Enum { name, .. } => match interface.enums.get(name.as_str()) {
            Some(one) if !is_flat(one) => {
                let fields = fields_of(one).into_iter();
                let clear = |(field, ty, _): (&str, &Type, _)| {
                    format!("clear_{}(&value->{field});", names.short(ty))
                };
                let mut body: Vec<_> = fields.map(clear).collect();
                body.push("value->kind = 0;".to_owned());
                body
            }
            _ => lines("(void)value;"),
        },
        Type::Box { inner_type } => clear_body(interface, inner_type),
        _ => lines("(void)value;"),
    }
}

fn read_items(item: &[String]) -> Vec<String> {
    let mut body = lines(
        "size_t count = get_count(from);\n\
         value->count = 0;\n\
         value->items = get_memory(from, count, sizeof *value->items);\n\
         for (size_t at = 0; at < count && from->fault == NULL; at++) {",
    );
    body.extend(item.iter().map(|one| format!("    {one}")));
    // Counted after it was read, in part at least, so that it is freed.
    body.extend(["    value->count = at + 1;".to_owned(), "}".to_owned()]);
    body
}

fn clear_items(item: &[String]) -> Vec<String> {
    let mut body = each_item("", item);
    body.extend(lines(
        "free((void *)value->items);\nvalue->items = NULL;\nvalue->count = 0;",
    ));
    body
}

fn each_item(before: &str, item: &[String]) -> Vec<String> {
    let mut body = lines(before);
    body.push("for (size_t at = 0; at < value->count; at++) {".to_owned());
    body.extend(item.iter().map(|one| format!("    {one}")));
    body.push("}".to_owned());
    body
}

fn fields(record: Option<&RecordMetadata>, one: impl Fn(&str, &Type) -> String) -> Vec<String> {
    let fields = record.into_iter().flat_map(|record| &record.fields);
    fields.map(|field| one(&field.name, &field.ty)).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Adds a function.
pub(crate) fn function(text: &mut String, signature: &str, body: &[String]) {
    line(text, "");
    line(text, &format!("{signature} {{"));
    for one in body {
        line(text, &format!("    {one}"));
    }
    line(text, "}");
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
