//! Prefixes of the metrics that other programs query by name.

use serde::Deserialize;

/// Prefixes under which metrics of the reference node (nwaku, now logos-delivery) are exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricsNames {
    /// Prefix `waku`, up to the reference node's version 0.38.
    Waku,
    /// Prefix `logos_delivery`, since the summer of 2026.
    LogosDelivery,
    /// Each metric under both prefixes.
    #[default]
    Both,
}

impl MetricsNames {
    /// Returns the prefixes, without the underscore that follows them.
    #[must_use]
    pub fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Waku => &["waku"],
            Self::LogosDelivery => &["logos_delivery"],
            Self::Both => &["waku", "logos_delivery"],
        }
    }
}
