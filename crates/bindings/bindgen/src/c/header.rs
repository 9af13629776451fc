//! The header: types and functions, with the documentation of the interface.

use std::fmt::Write as _;

use uniffi_meta::{EnumMetadata, RecordMetadata, Type};

use super::calls::signature;
use super::codec::freed;
use super::interface::{CInterface, fields_of, is_flat};
use super::names::snake;

/// Explanation of what is the same for all calls.
const ABOUT: &str = "\
Made from the library's interface. Every function returns whether it succeeded; one that may fail for a reason takes
`error`, which is set to that reason unless it is NULL, and to NULL on success.

Texts are UTF-8 and end with a 0 byte; NULL is the empty text, or no text where that is optional. Other optional
values are pointers, NULL for none. A NULL list is empty, and so is one that is all zeros; so struct literals need only
name the fields that are wanted. What a call takes is copied, and remains the caller's. What it gives belongs to the
caller, who frees it with the function `..._free` of its type (texts: @_string_free), and not the parts of it.

All functions may be called from any thread.";

/// Returns the header.
pub(crate) fn text(interface: &CInterface<'_>) -> String {
    let names = &interface.names;
    let mut text = String::new();
    let guard = format!("{}_H", names.namespace.to_ascii_uppercase());
    comment(&mut text, "", &ABOUT.replace('@', &names.namespace));
    let includes = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>";
    let open = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    line(
        &mut text,
        &format!("#ifndef {guard}\n#define {guard}\n\n{includes}\n\n{open}"),
    );
    for object in interface.objects.values() {
        let full = names.full(&names.definition(&object.name));
        comment(
            &mut text,
            "",
            object.docstring.as_deref().unwrap_or_default(),
        );
        line(&mut text, &format!("typedef struct {full} {full};\n"));
    }
    types(&mut text, interface);
    for ty in freed(interface) {
        let value = names.value(ty);
        line(&mut text, &format!("void {value}_free({value} *value);"));
    }
    let string_free = names.full("string_free");
    line(
        &mut text,
        &format!("void {string_free}(const char *text);\n"),
    );
    for call in &interface.calls {
        comment(&mut text, "", call.docs.unwrap_or_default());
        line(&mut text, &format!("{};\n", signature(interface, call)));
    }
    for object in interface.objects.values() {
        let short = names.definition(&object.name);
        let full = names.full(&short);
        comment(
            &mut text,
            "",
            "Frees the object, which ends its work. Does nothing for NULL.",
        );
        line(&mut text, &format!("void {full}_free({full} *{short});\n"));
    }
    if !interface.left_out.is_empty() {
        let names = interface.left_out.join(", ");
        let left_out = format!(
            "Other languages have these too, which take or give what C cannot have: {names}."
        );
        comment(&mut text, "", &left_out);
    }
    line(&mut text, "\n#ifdef __cplusplus\n}\n#endif\n#endif");
    text
}

/// Writes the types, each after those that it contains.
fn types(text: &mut String, interface: &CInterface<'_>) {
    let mut open: Vec<&Type> = interface.written.union(&interface.read).collect();
    let mut done: Vec<String> = Vec::new();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|ty| {
            let is_ready = parts(interface, ty).iter().all(|part| done.contains(part));
            if is_ready {
                define(text, interface, ty);
                done.push(interface.names.short(ty));
            }
            !is_ready
        });
        // Types that contain each other cannot be had by value; such an interface does not compile.
        if open.len() == before {
            break;
        }
    }
}

/// Returns the short names of the types that a type contains.
fn parts(interface: &CInterface<'_>, ty: &Type) -> Vec<String> {
    let mut parts: Vec<&Type> = ty.iter_nested_types().collect();
    match ty {
        Type::Record { name, .. } => {
            let record = interface.records.get(name.as_str()).into_iter();
            let fields = record.flat_map(|record| &record.fields);
            parts.extend(fields.map(|field| &field.ty));
        }
        Type::Enum { name, .. } => {
            let one = interface.enums.get(name.as_str()).into_iter();
            let variants = one.flat_map(|one| &one.variants);
            let fields = variants.flat_map(|variant| &variant.fields);
            parts.extend(fields.map(|field| &field.ty));
        }
        _ => {}
    }
    parts
        .iter()
        .map(|part| interface.names.short(part))
        .collect()
}

fn define(text: &mut String, interface: &CInterface<'_>, ty: &Type) {
    let names = &interface.names;
    let value = names.value(ty);
    match ty {
        Type::Bytes => structure(
            text,
            &value,
            &[
                "const uint8_t *data;".to_owned(),
                "size_t length;".to_owned(),
            ],
        ),
        Type::Sequence { inner_type } => {
            let items = format!("{};", names.declare(inner_type, "*items"));
            structure(text, &value, &[items, "size_t count;".to_owned()]);
        }
        Type::Map {
            key_type,
            value_type,
        } => {
            let entry = format!("{value}_entry");
            let key = format!("{};", names.declare(key_type, "key"));
            let mapped = format!("{};", names.declare(value_type, "value"));
            structure(text, &entry, &[key, mapped]);
            let items = format!("{entry} *items;");
            structure(text, &value, &[items, "size_t count;".to_owned()]);
        }
        Type::Record { name, .. } => {
            if let Some(record) = interface.records.get(name.as_str()) {
                define_record(text, interface, &value, record);
            }
        }
        Type::Enum { name, .. } => {
            if let Some(one) = interface.enums.get(name.as_str()) {
                define_enum(text, interface, &value, one);
            }
        }
        _ => {}
    }
}

fn define_record(
    text: &mut String,
    interface: &CInterface<'_>,
    value: &str,
    record: &RecordMetadata,
) {
    comment(text, "", record.docstring.as_deref().unwrap_or_default());
    line(text, &format!("typedef struct {value} {{"));
    for field in &record.fields {
        comment(text, "    ", field.docstring.as_deref().unwrap_or_default());
        line(
            text,
            &format!("    {};", interface.names.declare(&field.ty, &field.name)),
        );
    }
    line(text, &format!("}} {value};\n"));
}

fn define_enum(text: &mut String, interface: &CInterface<'_>, value: &str, one: &EnumMetadata) {
    let names = &interface.names;
    let kind = if is_flat(one) {
        value.to_owned()
    } else {
        format!("{value}_kind")
    };
    comment(text, "", one.docstring.as_deref().unwrap_or_default());
    line(text, &format!("typedef enum {kind} {{"));
    if one.shape.is_error() {
        let internal = names.constant(&one.name, "Internal");
        let about = "Fault outside the interface: no memory, a text that is not UTF-8, a library of another version.";
        comment(text, "    ", about);
        line(text, &format!("    {internal} = 0,"));
    }
    for (number, variant) in (1..).zip(&one.variants) {
        comment(
            text,
            "    ",
            variant.docstring.as_deref().unwrap_or_default(),
        );
        let constant = names.constant(&one.name, &variant.name);
        line(text, &format!("    {constant} = {number},"));
    }
    line(text, &format!("}} {kind};\n"));
    if is_flat(one) {
        return;
    }
    line(
        text,
        &format!("typedef struct {value} {{\n    {kind} kind;"),
    );
    for (field, ty, variants) in fields_of(one) {
        if variants.len() < one.variants.len() {
            let variants: Vec<_> = variants
                .iter()
                .map(|one| snake(one).to_ascii_uppercase())
                .collect();
            comment(text, "    ", &format!("For {}.", variants.join(", ")));
        }
        line(text, &format!("    {};", names.declare(ty, field)));
    }
    line(text, &format!("}} {value};\n"));
}

fn structure(text: &mut String, value: &str, fields: &[String]) {
    line(text, &format!("typedef struct {value} {{"));
    for field in fields {
        line(text, &format!("    {field}"));
    }
    line(text, &format!("}} {value};\n"));
}

/// Writes a comment; nothing if there is none.
fn comment(text: &mut String, indent: &str, docs: &str) {
    // A comment cannot hold its own end.
    let docs = docs.trim().replace("*/", "* /");
    let mut lines = docs.lines();
    let (Some(first), more) = (lines.next(), lines.collect::<Vec<_>>()) else {
        return;
    };
    if more.is_empty() {
        line(text, &format!("{indent}/** {first} */"));
        return;
    }
    line(text, &format!("{indent}/**"));
    for one in [first].into_iter().chain(more) {
        line(text, format!("{indent} * {one}").trim_end());
    }
    line(text, &format!("{indent} */"));
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
