use serde::Serialize;

/// Number of things that an attack must leave as they are, and of those that it did leave so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Description of the things.
    pub what: &'static str,
    /// Number of those that are as they should be.
    pub good: usize,
    /// Number of all of them.
    pub of: usize,
}

impl Counted {
    /// Whether all are as they should be.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.good == self.of
    }
}
