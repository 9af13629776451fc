//! Reading of messages. Every length is checked against the remaining bytes before memory is
//! allocated for it.

use undertone_wire::read_varint;

/// Returned for a message that cannot be read; names the malformed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// Reader of a message.
#[derive(Debug)]
pub(crate) struct MessageReader<'a> {
    rest: &'a [u8],
}

impl<'a> MessageReader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a number.
    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, Unreadable> {
        let (value, len) = read_varint(self.rest).map_err(|_| Unreadable(what))?;
        self.rest = &self.rest[len..];
        Ok(value)
    }

    /// Takes a number of 32 bits.
    pub(crate) fn short(&mut self, what: &'static str) -> Result<u32, Unreadable> {
        u32::try_from(self.number(what)?).map_err(|_| Unreadable(what))
    }

    /// Takes a truth value.
    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, Unreadable> {
        match self.number(what)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Unreadable(what)),
        }
    }

    /// Takes the length of a list whose entries are at least one byte each.
    pub(crate) fn entries(&mut self, what: &'static str) -> Result<usize, Unreadable> {
        let count = usize::try_from(self.number(what)?).map_err(|_| Unreadable(what))?;
        if count > self.rest.len() {
            return Err(Unreadable(what));
        }
        Ok(count)
    }

    /// Takes a length-prefixed byte string.
    pub(crate) fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], Unreadable> {
        let len = self.entries(what)?;
        let (bytes, rest) = self.rest.split_at(len);
        self.rest = rest;
        Ok(bytes)
    }
}
