//! Releases of the reference node, and what identifies them: programs, images, prefixes of variables.

use std::fmt;

/// Range of releases that a deployment may have, by minor number: 37 is 0.37.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Releases {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

const fn span(first: u16, last: u16) -> Releases {
    Releases { first, last }
}

const ANY: Releases = span(0, u16::MAX);
/// Releases with the name `wakunode2`.
const OLD: Releases = span(0, 38);
/// Releases with the name `logosdeliverynode`.
const NEW: Releases = span(39, u16::MAX);

/// Prefixes of the names of the reference node's programs and images. The images of 0.39 still have the name
/// nwaku.
const PROGRAMS: [(&str, Releases); 8] = [
    ("wakunode", OLD),
    ("nim-waku", OLD),
    ("nwaku", ANY),
    ("logosdelivery", NEW),
    ("logos_delivery", NEW),
    ("logos-delivery", ANY),
    ("logos-messaging-nim", ANY),
    ("logos-messaging-node", ANY),
];

/// Prefixes of environment variables that set flags. Source of the newer one: logos-messaging/logos-delivery,
/// `CHANGELOG.md`, commit 3cf14c227d341cf079695270f3792ebc39082990.
const PREFIXES: [(&str, Releases); 2] = [("LOGOS_DELIVERY_NODE_", NEW), ("WAKUNODE2_", OLD)];

impl Releases {
    /// Returns the release named in a text such as `v0.37.1-beta`.
    pub(crate) fn of_version(text: &str) -> Option<Self> {
        let minor = text.strip_prefix('v').unwrap_or(text).strip_prefix("0.")?;
        let minor = minor.split(|c: char| !c.is_ascii_digit()).next()?;
        let minor = minor.parse().ok()?;
        Some(span(minor, minor))
    }

    /// Returns the releases with a program or an image of this name; `None` if it is not the reference
    /// node's.
    pub(crate) fn of_program(word: &str) -> Option<Self> {
        let name = word.trim().rsplit('/').next().unwrap_or_default();
        let (_, releases) = PROGRAMS.iter().find(|(start, _)| name.starts_with(start))?;
        let tag = name.split_once(':').map_or("", |(_, tag)| tag);
        // Images of pull requests: NUMBER-logosdeliverynode.
        let of_tag = || tag.contains("logosdelivery").then_some(NEW);
        Some(Self::of_version(tag).or_else(of_tag).unwrap_or(*releases))
    }

    /// Returns the releases that read the variable as a flag, and the flag's name.
    pub(crate) fn of_variable(name: &str) -> Option<(Self, String)> {
        PREFIXES.iter().find_map(|(prefix, releases)| {
            let flag = name.strip_prefix(prefix)?;
            Some((*releases, flag.to_ascii_lowercase().replace('_', "-")))
        })
    }

    /// Returns the releases in both ranges; `None` if there are none.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let both = span(self.first.max(other.first), self.last.min(other.last));
        (both.first <= both.last).then_some(both)
    }
}

impl Default for Releases {
    fn default() -> Self {
        ANY
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (0, u16::MAX) => write!(f, "any release"),
            (first, last) if first == last => write!(f, "0.{first}"),
            (0, last) => write!(f, "0.{last} or before"),
            (first, u16::MAX) => write!(f, "0.{first} or later"),
            (first, last) => write!(f, "0.{first} to 0.{last}"),
        }
    }
}
