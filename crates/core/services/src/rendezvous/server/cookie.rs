//! Cookies of a server: the position from which a client continues in the order of registrations.

/// Length of the two numbers that precede the namespace, in bytes.
const NUMBERS: usize = 16;

/// Position in the order of registrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    /// Number of the first registration that the client has not received.
    pub(super) next: u64,
}

impl Cookie {
    /// Reads a cookie of the run `run` for `namespace`.
    ///
    /// Any other cookie is ignored, so that the client gets everything from the start. It may come from an earlier run
    /// of this server, or from another program with the same key. If it were refused, clients like nim-libp2p's would
    /// send it forever.
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
