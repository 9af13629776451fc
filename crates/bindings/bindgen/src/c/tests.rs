//! The generator on a small interface; that the sources compile and work is tested with the real one
//! (`crates/bindings/tests`).

use std::collections::BTreeSet;

use uniffi_meta::Type;
use uniffi_meta::{
    EnumMetadata, EnumShape, FieldMetadata, FnMetadata, FnParamMetadata, Metadata,
    NamespaceMetadata, RecordMetadata, VariantMetadata,
};

use super::names::snake;
use super::*;

fn record(name: &str) -> Type {
    Type::Record {
        module_path: "it".to_owned(),
        name: name.to_owned(),
    }
}

fn error(name: &str) -> Type {
    Type::Enum {
        module_path: "it".to_owned(),
        name: name.to_owned(),
    }
}

fn list(inner: Type) -> Type {
    let inner_type = Box::new(inner);
    Type::Sequence { inner_type }
}

fn optional(inner: Type) -> Type {
    let inner_type = Box::new(inner);
    Type::Optional { inner_type }
}

fn field(name: &str, ty: Type) -> FieldMetadata {
    FieldMetadata {
        name: name.to_owned(),
        orig_name: None,
        ty,
        default: None,
        docstring: None,
    }
}

fn define_record(name: &str, fields: Vec<FieldMetadata>) -> Metadata {
    Metadata::Record(RecordMetadata {
        module_path: "it".to_owned(),
        name: name.to_owned(),
        orig_name: None,
        remote: false,
        fields,
        docstring: Some("Two lines.\nThe second */ ends no comment.".to_owned()),
    })
}

fn define_error(name: &str, variants: &[(&str, Type)]) -> Metadata {
    let variants = variants.iter().map(|(name, ty)| VariantMetadata {
        name: (*name).to_owned(),
        orig_name: None,
        discr: None,
        fields: vec![field("reason", ty.clone())],
        docstring: None,
    });
    Metadata::Enum(EnumMetadata {
        module_path: "it".to_owned(),
        name: name.to_owned(),
        orig_name: None,
        shape: EnumShape::Error { flat: false },
        remote: false,
        variants: variants.collect(),
        discr_type: None,
        non_exhaustive: false,
        docstring: None,
    })
}

fn call(name: &str, input: Type, returns: Option<Type>, throws: Option<Type>) -> Metadata {
    Metadata::Func(FnMetadata {
        module_path: "it".to_owned(),
        name: name.to_owned(),
        orig_name: None,
        is_async: false,
        inputs: vec![FnParamMetadata::simple("given", input)],
        return_type: returns,
        throws,
        checksum: Some(7),
        docstring: Some("Does something.".to_owned()),
    })
}

fn generated(items: impl IntoIterator<Item = Metadata>) -> Result<CSources, CError> {
    sources(&MetadataGroup {
        namespace: NamespaceMetadata {
            crate_name: "it".to_owned(),
            name: "it".to_owned(),
        },
        namespace_docstring: None,
        items: BTreeSet::from_iter(items),
    })
}

#[test]
fn names_are_split_where_a_capital_letter_begins_a_word() {
    assert_eq!(snake("IncomingMessage"), "incoming_message");
    assert_eq!(snake("ENR"), "enr");
    assert_eq!(snake("Sha256Hash"), "sha256_hash");
}

#[test]
fn types_stand_after_those_that_they_contain() {
    let outer = define_record("Outer", vec![field("all", list(record("Inner")))]);
    let inner = define_record("Inner", vec![field("text", optional(Type::String))]);
    let made = generated([outer, inner, call("take", record("Outer"), None, None)]);
    let header = made.unwrap().header;
    let at = |text: &str| {
        header
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {header}"))
    };
    assert!(at("} it_inner;") < at("} it_inner_list;"));
    assert!(at("} it_inner_list;") < at("} it_outer;"));
    assert!(header.contains("    it_inner_list all;"));
    assert!(header.contains("    const char *text;"));
    assert!(header.contains("bool it_take(const it_outer *given);"));
    assert!(
        header.contains(" * The second * / ends no comment.\n"),
        "{header}"
    );
}

#[test]
fn only_what_is_used_is_written_or_read() {
    let one = define_record("Question", vec![field("limit", optional(Type::UInt32))]);
    let other = define_record("Answer", vec![field("found", list(Type::Bytes))]);
    let fault = define_error("Fault", &[("Refused", Type::String)]);
    let ask = call(
        "ask",
        record("Question"),
        Some(record("Answer")),
        Some(error("Fault")),
    );
    let made = generated([one, other, fault, ask]).unwrap();
    for there in [
        "write_question(",
        "read_answer(",
        "clear_answer(",
        "read_fault(",
    ] {
        assert!(made.source.contains(there), "{there}");
    }
    // The compiler warns of functions that nothing uses.
    for absent in ["read_question(", "write_answer(", "write_fault("] {
        assert!(!made.source.contains(absent), "{absent}");
    }
    let signature = "bool it_ask(const it_question *given, it_answer **result, it_fault **error);";
    assert!(made.header.contains(signature), "{}", made.header);
    assert!(made.header.contains("IT_FAULT_REFUSED = 1,"));
    assert!(made.header.contains("void it_fault_free(it_fault *value);"));
    assert!(made.source.contains("{uniffi_it_checksum_func_ask, 7},"));
}

#[test]
fn calls_that_c_cannot_have_are_left_out_and_named() {
    let listener = Type::CallbackInterface {
        module_path: "it".to_owned(),
        name: "Listener".to_owned(),
    };
    let number = Some(optional(Type::UInt64));
    let made = generated([
        call("listen", listener, None, None),
        call("count", Type::String, number, None),
        call("say", Type::String, None, None),
    ]);
    let made = made.unwrap();
    assert!(
        made.header.contains("cannot have: count, listen."),
        "{}",
        made.header
    );
    assert!(made.header.contains("bool it_say(const char *given);"));
    assert!(!made.source.contains("listen"));
}

#[test]
fn an_interface_that_does_not_fit_is_refused_by_name() {
    let take = || call("take", record("One"), None, None);
    let undefined = generated([take()]).map(|_| ());
    assert_eq!(
        undefined,
        Err(CError::Undefined {
            name: "One".to_owned()
        })
    );
    let field = generated([
        define_record("One", vec![field("at", Type::Timestamp)]),
        take(),
    ]);
    assert_eq!(
        field.map(|_| ()),
        Err(CError::Field {
            name: "One".to_owned()
        })
    );
    let same = generated([
        define_record("Take", Vec::new()),
        call("take", record("Take"), None, None),
    ]);
    assert_eq!(
        same.map(|_| ()),
        Err(CError::SameName {
            name: "take".to_owned()
        })
    );
    let clash = define_error("Fault", &[("One", Type::String), ("Two", Type::UInt64)]);
    let clash = generated([clash, call("say", Type::String, None, Some(error("Fault")))]);
    let expected = CError::Clash {
        name: "Fault".to_owned(),
        field: "reason".to_owned(),
    };
    assert_eq!(clash.map(|_| ()), Err(expected));
}
