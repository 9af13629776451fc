//! Cookies of a server: the place in the order of registrations at which a client goes on.

/// Length of the two numbers before the namespace, in bytes.
const NUMBERS: usize = 16;

/// Place in the order of registrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    /// Number of the first registration that the client has not been given.
    pub(super) next: u64,
}

impl Cookie {
    /// Reads a cookie of the run `run` for `namespace`.
    ///
    /// Any other cookie is passed over, so that the client gets everything from the start: it may come from an earlier run of
    /// this server, or from another program with the same key, and clients like nim-libp2p's would send a refused one
    /// for ever.
    pub(super) fn read(bytes: &[u8], run: u64, namespace: Option<&str>) -> Option<Self> {
        let (numbers, name) = bytes.split_at_checked(NUMBERS)?;
        let (of_run, next) = numbers.split_at_checked(NUMBERS / 2)?;
        let next = u64::from_be_bytes(next.try_into().ok()?);
        let is_own =
            of_run == run.to_be_bytes() && name == namespace.unwrap_or_default().as_bytes();
        is_own.then_some(Self { next })
    }

    /// Writes the cookie.
    pub(super) fn write(self, run: u64, namespace: Option<&str>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NUMBERS + namespace.map_or(0, str::len));
        bytes.extend(run.to_be_bytes());
        bytes.extend(self.next.to_be_bytes());
        bytes.extend(namespace.unwrap_or_default().as_bytes());
        bytes
    }
}
