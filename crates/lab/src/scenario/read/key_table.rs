//! Keys that set one parameter each, with both directions: from a file and to one.

use undertone_settings::FieldKey;

use crate::scenario::write::values::WrittenKey;

/// Keys of a table, read and written by the same list.
pub(in crate::scenario) struct KeyTable<T: 'static> {
    /// Keys with how each is read.
    pub(in crate::scenario) read: &'static [FieldKey<T>],
    /// The same keys with how each is written.
    pub(in crate::scenario) write: &'static [WrittenKey<T>],
}

/// Lists keys as `undertone_settings::fields!` does, for both directions.
macro_rules! key_table {
    (@place $source:ident, $key:ident) => { &$source.$key };
    (@place $source:ident, $key:ident, $($path:ident).+) => { &$source.$($path).+ };
    ($($reader:ident $arguments:tt: $($key:ident $(= $($path:ident).+)?),+ $(,)?);+ $(;)?) => {
        $crate::scenario::read::key_table::KeyTable {
            read: undertone_settings::fields![
                $($reader $arguments: $($key $(= $($path).+)?),+);+
            ],
            write: &[$($($crate::scenario::write::values::WrittenKey {
                key: stringify!($key),
                write: |source| {
                    let write = $crate::scenario::write::values::$reader $arguments;
                    write(key_table!(@place source, $key $(, $($path).+)?))
                },
            }),+),+],
        }
    };
}

pub(super) use key_table;
