//! Types of key values, and how they are read from text and TOML.

use std::{net::IpAddr, path::PathBuf};

use serde::Deserialize;
use tracing::Level;
use undertone_gossip::StrategyKind;
use undertone_membership::evm::Mode;
use undertone_settings::{Origin, TomlEntry, TomlValue};

use super::log::LogFormat;
use undertone_rest::{MetricsNames, level_by_name};

/// Type of a key's value; determines how text is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Either `true` or `false`.
    Bool,
    /// An integer, which may be negative.
    Integer,
    /// Decimal number, such as 0.25.
    Float,
    /// Text, taken as it is.
    Text,
    /// Comma-separated whole numbers, as a list.
    IntegerList,
    /// Comma-separated texts, as a list.
    TextList,
}

impl Kind {
    /// Parses text. Text that does not parse remains text, which [`FromEntry`] then rejects.
    pub(super) fn parse(self, text: &str, origin: &Origin) -> TomlEntry {
        let integer = |text: &str| text.parse().ok().map(TomlValue::Integer);
        let or_text = |text: &str, value: Option<TomlValue>| TomlEntry {
            value: value.unwrap_or_else(|| TomlValue::Text(text.to_owned())),
            origin: origin.clone(),
        };
        let list = |read: &dyn Fn(&str) -> Option<TomlValue>| {
            let items = text.split(',').map(str::trim);
            let items = items.filter(|item| !item.is_empty());
            TomlValue::List(items.map(|item| or_text(item, read(item))).collect())
        };
        let value = match self {
            Self::Bool => text.parse().ok().map(TomlValue::Bool),
            Self::Integer => integer(text),
            Self::Float => text.parse().ok().map(TomlValue::Float),
            Self::Text => None,
            Self::IntegerList => Some(list(&integer)),
            Self::TextList => Some(list(&|_| None)),
        };
        or_text(text, value)
    }
}

/// A type of key values.
pub(super) trait FromEntry: Sized {
    /// Kind by which text is parsed.
    const KIND: Kind;

    /// Converts a value; `None` if it is of another type.
    fn from_entry(entry: &TomlEntry) -> Option<Self>;
}

impl<T: FromEntry> FromEntry for Vec<T> {
    const KIND: Kind = match T::KIND {
        Kind::Integer => Kind::IntegerList,
        _ => Kind::TextList,
    };

    fn from_entry(entry: &TomlEntry) -> Option<Self> {
        entry.as_list()?.iter().map(T::from_entry).collect()
    }
}

/// The strategies for nodes; flooding exists for simulations only.
impl FromEntry for StrategyKind {
    const KIND: Kind = Kind::Text;

    fn from_entry(entry: &TomlEntry) -> Option<Self> {
        let kind = entry.as_text()?.parse().ok();
        kind.filter(|kind| *kind != Self::Flood)
    }
}

impl FromEntry for Level {
    const KIND: Kind = Kind::Text;

    fn from_entry(entry: &TomlEntry) -> Option<Self> {
        level_by_name(entry.as_text()?)
    }
}

/// Implements [`FromEntry`] for types that serde deserializes, via JSON.
macro_rules! from_serde {
    ($($kind:ident: $($type:ty),+;)+) => {$($(
        impl FromEntry for $type {
            const KIND: Kind = Kind::$kind;

            fn from_entry(entry: &TomlEntry) -> Option<Self> {
                Self::deserialize(serde_json::to_value(&entry.value).ok()?).ok()
            }
        }
    )+)+};
}

from_serde! {
    Bool: bool;
    Integer: u16, u32, u64, usize, i64;
    Float: f64;
    Text: String, IpAddr, PathBuf, LogFormat, MetricsNames, Mode, RestAuth;
}

/// IP addresses to listen on, one or a list, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListenAddresses(pub(super) Vec<IpAddr>);

impl FromEntry for ListenAddresses {
    const KIND: Kind = Kind::TextList;

    fn from_entry(entry: &TomlEntry) -> Option<Self> {
        let all = match entry.as_list() {
            Some(_) => Vec::from_entry(entry)?,
            None => vec![IpAddr::from_entry(entry)?],
        };
        let mut addresses = Vec::new();
        for address in all {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        (!addresses.is_empty()).then_some(Self(addresses))
    }
}

/// Value of the key that says which paths require the REST API's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RestAuth {
    /// Determined by the address that the API listens on.
    Auto,
    /// No path requires a token.
    None,
    /// Paths under `/admin` require it.
    Admin,
    /// All paths but `/health`, `/readyz` and the pages require it.
    All,
}
