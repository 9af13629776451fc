use serde::Serialize;

/// Count of things that an attack must not affect: how many there are, and how many were indeed unaffected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Description of the things.
    pub what: &'static str,
    /// Number of unaffected things.
    pub good: usize,
    /// Number of all of them.
    pub of: usize,
}

impl Counted {
    /// Whether all things are unaffected.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.good == self.of
    }
}
