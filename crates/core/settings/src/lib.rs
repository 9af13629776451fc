//! Settings with their origin. Reads TOML into a [tree](TomlEntry) of values that know their file and line, or
//! the flag or environment variable that set them, and reads its tables into typed values.
//!
//! Every error names the place, the key, the value, the allowed values and, for an unknown key, the one that
//! was probably meant.
//!
//! A reader names each key once. [`keys!`] binds keys to variables of the same names and refuses all others;
//! the compiler warns about a key that is never used.
//!
//! Why not only serde: its derive reads types, but does not describe the allowed values, suggest the intended
//! key, notice keys without effect, or know the flag or override that set a value.
//!
//! ```
//! use undertone_settings::{Error, MS, Section, TomlEntry, keys};
//!
//! struct Link {
//!     one_way_ns: u64,
//!     bytes_per_s: u32,
//! }
//!
//! fn read(root: &TomlEntry) -> Result<Link, Error> {
//!     let section = Section::new(root, "", "see the manual")?;
//!     keys!(section => one_way_ms, bytes_per_s);
//!     Ok(Link {
//!         one_way_ns: one_way_ms
//!             .time(MS)?
//!             .ok_or_else(|| one_way_ms.bad("milliseconds"))?,
//!         bytes_per_s: bytes_per_s.whole(1, 1_000_000)?.unwrap_or(1_000),
//!     })
//! }
//!
//! let root = TomlEntry::read("one_way_ms = 1.5\nbytes_per_s = 7", "link.toml")?;
//! assert_eq!(read(&root)?.one_way_ns, 1_500_000);
//! let root = TomlEntry::read("bytes_per_s = 7\none_way = 50", "link.toml")?;
//! assert_eq!(
//!     read(&root).map(|_| ()).unwrap_err().to_string(),
//!     "link.toml:2: unknown key \"one_way\"; did you mean \"one_way_ms\"?"
//! );
//! # Ok::<(), Error>(())
//! ```

mod error;
mod nearest;
mod section;
mod tree;

#[cfg(test)]
mod tests;

pub use error::{Error, Origin};
pub use nearest::nearest;
pub use section::{MS, S, Section, SectionKey, US, ns};
pub use tree::{TomlEntry, TomlTable, TomlValue};
