//! Sources for C: a header with the types and calls of an interface, and the code that turns them into calls of the
//! library.

mod calls;
mod codec;
mod header;
mod interface;
mod library;
mod lowering;
mod names;

#[cfg(test)]
mod tests;

use thiserror::Error;
use uniffi_meta::MetadataGroup;

use self::interface::CInterface;

/// Helpers that do not depend on the interface.
const RUNTIME: &str = include_str!("c/runtime.c");

/// Both files for C.
pub(crate) struct CSources {
    pub(crate) header: String,
    pub(crate) source: String,
}

/// Reason why an interface cannot be had in C.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CError {
    /// A type refers to a definition that is not there.
    #[error("{name} is used and not defined")]
    Undefined { name: String },
    /// A record or enum has a field that C cannot have.
    #[error("{name} has a field of a type that is not offered in C")]
    Field { name: String },
    /// A function and a type would have one name.
    #[error("{name} is the name of a type and of a call")]
    SameName { name: String },
    /// Two variants of an enum have fields of one name and different types, which C's struct cannot hold.
    #[error("{name} has two fields {field} of different types")]
    Clash { name: String, field: String },
}

/// Writes the sources of an interface. Calls with types that C cannot have, such as listeners, are left out, and the
/// header says so.
///
/// # Errors
/// [`CError`] if a type of the other calls cannot be had.
pub(crate) fn sources(group: &MetadataGroup) -> Result<CSources, CError> {
    let interface = CInterface::new(group)?;
    let fixed = |text: &str| {
        text.replace("@namespace@", &group.namespace.name)
            .replace("@crate@", &group.namespace.crate_name)
    };
    let parts = [
        fixed(RUNTIME),
        codec::functions(&interface),
        library::functions(&interface),
        calls::functions(&interface),
    ];
    Ok(CSources {
        header: header::text(&interface),
        source: parts.join("\n"),
    })
}
