use crate::protocol::ControlCounts;

#[cfg(test)]
mod tests;

/// Protobuf field number of `RPC.control`.
const CONTROL: u64 = 3;
/// Field numbers of `ControlMessage.{ihave, iwant, graft, prune, idontwant}`, from here to `IDONTWANT`.
const IHAVE: u64 = 1;
const IWANT: u64 = 2;
const GRAFT: u64 = 3;
const PRUNE: u64 = 4;
const IDONTWANT: u64 = 5;
/// Field number of `ControlPrune.backoff`, in seconds.
const BACKOFF: u64 = 3;

/// Adds the control entries of an encoded `RPC` to `counts`. A parse error ends the counting of its message.
pub(super) fn count(rpc: &[u8], counts: &mut ControlCounts) {
    for (field, value) in Fields(rpc) {
        if let (CONTROL, Value::Bytes(control)) = (field, value) {
            count_control(control, counts);
        }
    }
}

fn count_control(control: &[u8], counts: &mut ControlCounts) {
    for (field, value) in Fields(control) {
        let Value::Bytes(entry) = value else { continue };
        match field {
            IHAVE => counts.ihave += 1,
            IWANT => counts.iwant += 1,
            GRAFT => counts.graft += 1,
            IDONTWANT => counts.idontwant += 1,
            PRUNE => {
                counts.prune += 1;
                for (field, value) in Fields(entry) {
                    if let (BACKOFF, Value::Number(seconds)) = (field, value) {
                        counts.prune_with_backoff += 1;
                        counts.prune_backoff_s = Some(seconds);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Iterator over the fields of a protobuf message, until its end or its first error.
struct Fields<'a>(&'a [u8]);

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}
