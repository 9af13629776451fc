//! What the source needs of the library: its functions, whether they are those of this interface, and their errors.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use uniffi_meta::{Type, UNIFFI_CONTRACT_VERSION};

use super::codec::function;
use super::interface::{CInterface, fields_of};
use super::lowering::lowered;

/// Field of an error that takes the text of a fault outside the interface.
pub(crate) const REASON: &str = "reason";

/// Returns the declarations, `check_library`, and `failed…` for each type of error.
pub(crate) fn functions(interface: &CInterface<'_>) -> String {
    let mut text = String::new();
    declarations(&mut text, interface);
    check(&mut text, interface);
    let throws: BTreeSet<_> = interface
        .calls
        .iter()
        .filter_map(|call| call.throws)
        .collect();
    for ty in throws {
        failed_with(&mut text, interface, ty);
    }
    if interface.calls.iter().any(|call| call.throws.is_none()) {
        let body = [
            "bool has_failed = fault != NULL || status->code != CALL_SUCCESS;",
            "release(status->error);",
            "return has_failed;",
        ];
        let signature = "static bool failed(const char *fault, call_status *status)";
        function(&mut text, signature, &body.map(str::to_owned));
    }
    text
}

/// Declares the functions of the library.
fn declarations(text: &mut String, interface: &CInterface<'_>) {
    for object in interface.objects.values() {
        let full = interface
            .names
            .full(&interface.names.definition(&object.name));
        let (clone, free) = (
            object.clone_ffi_symbol_name(),
            object.free_ffi_symbol_name(),
        );
        line(
            text,
            &format!("struct {full} {{\n    uint64_t handle;\n}};\n"),
        );
        line(
            text,
            &format!("uint64_t {clone}(uint64_t handle, call_status *status);"),
        );
        line(
            text,
            &format!("void {free}(uint64_t handle, call_status *status);"),
        );
    }
    for call in &interface.calls {
        let mut parameters = Vec::new();
        if call.object.is_some() && !call.is_constructor {
            parameters.push("uint64_t handle".to_owned());
        }
        let inputs = call.inputs.iter();
        parameters.extend(inputs.map(|input| format!("{} {}", lowered(&input.ty), input.name)));
        parameters.push("call_status *status".to_owned());
        let returned = if call.is_constructor {
            "uint64_t"
        } else {
            call.returns.map_or("void", lowered)
        };
        line(
            text,
            &format!("{returned} {}({});", call.symbol, parameters.join(", ")),
        );
        if let Some((symbol, _)) = &call.checksum {
            line(text, &format!("uint16_t {symbol}(void);"));
        }
    }
}

/// Writes the function that finds out whether the library has the interface that this source was made for.
fn check(text: &mut String, interface: &CInterface<'_>) {
    let mut body = vec![
        "static const struct {".to_owned(),
        "    uint16_t (*checksum)(void);".to_owned(),
        "    uint16_t expected;".to_owned(),
        "} calls[] = {".to_owned(),
    ];
    for (symbol, sum) in interface
        .calls
        .iter()
        .filter_map(|call| call.checksum.as_ref())
    {
        body.push(format!("    {{{symbol}, {sum}}},"));
    }
    let version = format!("ffi_{}_uniffi_contract_version", interface.crate_name);
    body.extend([
        "};".to_owned(),
        format!("if ({version}() != {UNIFFI_CONTRACT_VERSION}) {{"),
        "    return MISMATCH;".to_owned(),
        "}".to_owned(),
        "for (size_t at = 0; at < sizeof calls / sizeof *calls; at++) {".to_owned(),
        "    if (calls[at].checksum() != calls[at].expected) {".to_owned(),
        "        return MISMATCH;".to_owned(),
        "    }".to_owned(),
        "}".to_owned(),
        "return NULL;".to_owned(),
    ]);
    function(text, "static const char *check_library(void)", &body);
}

/// Writes the function that finds out whether a call has failed, and takes its error.
fn failed_with(text: &mut String, interface: &CInterface<'_>, ty: &Type) {
    let (value, short) = (interface.names.value(ty), interface.names.short(ty));
    let one = ty.name().and_then(|name| interface.enums.get(name));
    let has_reason = one.is_some_and(|one| {
        let mut fields = fields_of(one).into_iter();
        fields.any(|(field, ty, _)| field == REASON && *ty == Type::String)
    });
    let mut body = vec![
        "if (fault == NULL && status->code == CALL_SUCCESS) {".to_owned(),
        "    return false;".to_owned(),
        "}".to_owned(),
        "reader from = {status->error.data, (size_t)status->error.length, NULL};".to_owned(),
        format!("{value} *value = error == NULL ? NULL : calloc(1, sizeof *value);"),
        "if (value != NULL && fault == NULL && status->code == CALL_ERROR) {".to_owned(),
        format!("    read_{short}(&from, value);"),
        "    if (from.fault != NULL) {".to_owned(),
        format!("        clear_{short}(value);"),
        "        fault = from.fault;".to_owned(),
        "    }".to_owned(),
        "}".to_owned(),
    ];
    if has_reason {
        body.extend([
            "if (value != NULL && fault != NULL) {".to_owned(),
            format!("    value->{REASON} = copy_of(fault);"),
            "} else if (value != NULL && status->code != CALL_ERROR) {".to_owned(),
            format!(
                "    value->{REASON} = from.left == 0 ? copy_of(UNEXPECTED) : get_text(&from, from.left);"
            ),
            "}".to_owned(),
        ]);
    }
    body.extend([
        "release(status->error);".to_owned(),
        "if (error != NULL) {".to_owned(),
        "    *error = value;".to_owned(),
        "}".to_owned(),
        "return true;".to_owned(),
    ]);
    let signature = format!(
        "static bool failed_with_{short}(const char *fault, call_status *status, {value} **error)"
    );
    function(text, &signature, &body);
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
