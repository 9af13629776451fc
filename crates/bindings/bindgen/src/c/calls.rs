//! Functions of the header: each lowers its arguments, calls the library, and takes the result or the error.

use uniffi_meta::Type;

use super::codec::{function, has_fields};
use super::interface::{CCall, CInterface};
use super::lowering::{BUFFER, lowered, optional};
use super::names::is_struct;

/// Returns the functions of all calls, and those that free objects.
pub(crate) fn functions(interface: &CInterface<'_>) -> String {
    let mut text = String::new();
    for object in interface.objects.values() {
        let short = interface.names.definition(&object.name);
        let full = interface.names.full(&short);
        let body = [
            format!("if ({short} != NULL) {{"),
            "    call_status status = {0};".to_owned(),
            format!(
                "    {}({short}->handle, &status);",
                object.free_ffi_symbol_name()
            ),
            "    release(status.error);".to_owned(),
            format!("    free({short});"),
            "}".to_owned(),
        ];
        function(
            &mut text,
            &format!("void {full}_free({full} *{short})"),
            &body,
        );
    }
    for call in &interface.calls {
        let body = body(interface, call);
        function(&mut text, &signature(interface, call), &body);
    }
    text
}

/// Returns the signature of a call in the header.
pub(crate) fn signature(interface: &CInterface<'_>, call: &CCall<'_>) -> String {
    let names = &interface.names;
    let mut parameters = Vec::new();
    if let (false, Some(object)) = (call.is_constructor, call.object) {
        let short = names.definition(&object.name);
        parameters.push(format!("const {} *{short}", names.full(&short)));
    }
    let inputs = call.inputs.iter();
    parameters.extend(inputs.map(|input| names.parameter(&input.ty, &input.name)));
    if let Some(result) = result(interface, call) {
        parameters.push(result);
    }
    if let Some(throws) = call.throws {
        parameters.push(format!("{} **error", names.value(throws)));
    }
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let name = names.full(&call.short(names));
    format!("bool {name}({})", parameters.join(", "))
}

/// Returns the parameter through which a call gives its result.
fn result(interface: &CInterface<'_>, call: &CCall<'_>) -> Option<String> {
    let names = &interface.names;
    if let (true, Some(object)) = (call.is_constructor, call.object) {
        let full = names.full(&names.definition(&object.name));
        return Some(format!("{full} **result"));
    }
    let ty = call.returns?;
    let inner = optional(ty).unwrap_or(ty);
    if is_struct(inner) || has_fields(interface, inner) {
        return Some(format!("{} **result", names.value(inner)));
    }
    Some(names.declare(ty, "*result"))
}

fn body(interface: &CInterface<'_>, call: &CCall<'_>) -> Vec<String> {
    let mut body = vec!["call_status status = {0};".to_owned()];
    let is_method = call.object.is_some() && !call.is_constructor;
    if call.throws.is_some() {
        body.extend(["if (error != NULL) {", "    *error = NULL;", "}"].map(str::to_owned));
    }
    // A method's object was made by a constructor, which has checked.
    let check = if is_method { "NULL" } else { "check_library()" };
    body.push(format!("const char *fault = {check};"));
    let mut given = Vec::new();
    let mut buffers = Vec::new();
    if let (true, Some(object)) = (is_method, call.object) {
        let short = interface.names.definition(&object.name);
        body.extend([
            "uint64_t handle = 0;".to_owned(),
            format!("if ({short} == NULL) {{"),
            "    fault = NO_VALUE;".to_owned(),
            "}".to_owned(),
        ]);
        given.push("handle".to_owned());
    }
    for input in call.inputs {
        if let Some(buffer) = lower(interface, &mut body, &input.name, &input.ty) {
            given.push(buffer.clone());
            buffers.push(buffer);
        } else if input.ty == Type::Boolean {
            given.push(format!("{} ? 1 : 0", input.name));
        } else {
            given.push(input.name.clone());
        }
    }
    if let (true, Some(object)) = (is_method, call.object) {
        let short = interface.names.definition(&object.name);
        let clone = object.clone_ffi_symbol_name();
        // The library takes a reference of its own with each call.
        body.extend([
            "if (fault == NULL) {".to_owned(),
            format!("    handle = {clone}({short}->handle, &status);"),
            "}".to_owned(),
        ]);
    }
    given.push("&status".to_owned());
    let returned = if call.is_constructor {
        Some("uint64_t")
    } else {
        call.returns.map(lowered)
    };
    let assign = match returned {
        Some(ty) => {
            let empty = if ty == BUFFER { "{0}" } else { "0" };
            body.push(format!("{ty} returned = {empty};"));
            "returned = "
        }
        None => "",
    };
    body.push("if (fault == NULL && status.code == CALL_SUCCESS) {".to_owned());
    body.push(format!(
        "    {assign}{}({});",
        call.symbol,
        given.join(", ")
    ));
    if buffers.is_empty() {
        body.push("}".to_owned());
    } else {
        body.push("} else {".to_owned());
        body.extend(
            buffers
                .iter()
                .map(|buffer| format!("    release({buffer});")),
        );
        body.push("}".to_owned());
    }
    let failed = match call.throws {
        Some(ty) => format!(
            "failed_with_{}(fault, &status, error)",
            interface.names.short(ty)
        ),
        None => "failed(fault, &status)".to_owned(),
    };
    if returned.is_none() {
        body.push(format!("return !{failed};"));
        return body;
    }
    body.extend([
        format!("if ({failed}) {{"),
        "    return false;".to_owned(),
        "}".to_owned(),
    ]);
    if take(interface, call, &mut body) {
        body.push(format!("return !{failed};"));
    } else {
        body.push("return true;".to_owned());
    }
    body
}

/// Adds what turns an argument into a buffer, and returns its name; `None` if the argument is passed as it is.
fn lower(
    interface: &CInterface<'_>,
    body: &mut Vec<String>,
    name: &str,
    ty: &Type,
) -> Option<String> {
    if lowered(ty) != BUFFER {
        return None;
    }
    let buffer = format!("given_{name}");
    body.push(format!("rust_buffer {buffer} = {{0}};"));
    if *ty == Type::String {
        body.extend([
            "if (fault == NULL) {".to_owned(),
            format!("    fault = lower_text({name}, &{buffer});"),
            "}".to_owned(),
        ]);
        return Some(buffer);
    }
    let short = interface.names.short(ty);
    let pointer = if is_struct(ty) {
        name.to_owned()
    } else {
        format!("&{name}")
    };
    let may_be_null = is_struct(ty) && !matches!(ty, Type::Record { .. });
    body.push("if (fault == NULL) {".to_owned());
    body.push("    writer bytes = {0};".to_owned());
    if may_be_null {
        let value = interface.names.value(ty);
        body.push(format!("    const {value} none = {{0}};"));
        body.push(format!(
            "    write_{short}(&bytes, {name} == NULL ? &none : {name});"
        ));
    } else if is_struct(ty) {
        body.extend([
            format!("    if ({name} == NULL) {{"),
            "        bytes.fault = NO_VALUE;".to_owned(),
            "    } else {".to_owned(),
            format!("        write_{short}(&bytes, {pointer});"),
            "    }".to_owned(),
        ]);
    } else {
        body.push(format!("    write_{short}(&bytes, {pointer});"));
    }
    body.push(format!("    fault = lower(&bytes, &{buffer});"));
    body.push("}".to_owned());
    Some(buffer)
}

/// Adds what gives the result to the caller. Returns whether that can fail.
fn take(interface: &CInterface<'_>, call: &CCall<'_>, body: &mut Vec<String>) -> bool {
    let names = &interface.names;
    if let (true, Some(object)) = (call.is_constructor, call.object) {
        let full = names.full(&names.definition(&object.name));
        body.extend([
            format!("*result = malloc(sizeof({full}));"),
            "if (*result == NULL) {".to_owned(),
            format!("    {}(returned, &status);", object.free_ffi_symbol_name()),
            "    fault = NO_MEMORY;".to_owned(),
            "} else {".to_owned(),
            "    (*result)->handle = returned;".to_owned(),
            "}".to_owned(),
        ]);
        return true;
    }
    let Some(ty) = call.returns else {
        return false;
    };
    if lowered(ty) != BUFFER {
        let value = if *ty == Type::Boolean {
            "returned != 0"
        } else {
            "returned"
        };
        body.push(format!("*result = {value};"));
        return false;
    }
    body.push("reader from = {returned.data, (size_t)returned.length, NULL};".to_owned());
    let short = names.short(ty);
    let inner = optional(ty).unwrap_or(ty);
    if *ty == Type::String {
        body.push("*result = get_text(&from, from.left);".to_owned());
    } else if is_struct(inner) || has_fields(interface, inner) {
        let (value, inner_short) = (names.value(inner), names.short(inner));
        if optional(ty).is_some() {
            body.push(format!("const {value} *optional = NULL;"));
            body.push(format!("read_{short}(&from, &optional);"));
            body.push(format!("*result = ({value} *)optional;"));
        } else {
            body.push("*result = get_memory(&from, 1, sizeof **result);".to_owned());
            body.push("if (*result != NULL) {".to_owned());
            body.push(format!("    read_{short}(&from, *result);"));
            body.push("}".to_owned());
        }
        body.extend([
            "if (from.left > 0 && from.fault == NULL) {".to_owned(),
            "    from.fault = MISMATCH;".to_owned(),
            "}".to_owned(),
            "if (from.fault != NULL && *result != NULL) {".to_owned(),
            format!("    clear_{inner_short}(*result);"),
            "    free(*result);".to_owned(),
            "    *result = NULL;".to_owned(),
            "}".to_owned(),
        ]);
    } else {
        body.push(format!("read_{short}(&from, result);"));
    }
    body.push("release(returned);".to_owned());
    body.push("fault = from.fault;".to_owned());
    true
}
