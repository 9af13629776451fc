use undertone_wire::{FieldReader, FieldValue};

use crate::protocol::ControlCounts;

#[cfg(test)]
#[path = "tests/rpc.rs"]
mod tests;

/// Protobuf field number of `RPC.publish`; each occurrence is a message.
const PUBLISH: u32 = 2;
/// Protobuf field number of `RPC.control`.
const CONTROL: u32 = 3;
/// Field numbers of `ControlMessage.{ihave, iwant, graft, prune, idontwant}`, from `IHAVE` to `IDONTWANT`.
const IHAVE: u32 = 1;
const IWANT: u32 = 2;
const GRAFT: u32 = 3;
const PRUNE: u32 = 4;
const IDONTWANT: u32 = 5;
/// Field number of `ControlPrune.backoff`, in seconds.
const BACKOFF: u32 = 3;

/// Adds the messages and control entries of an encoded `RPC` to `counts`. A parse error ends the counting of the
/// message that contains it.
pub(super) fn count(rpc: &[u8], counts: &mut ControlCounts) {
    for (field, value) in fields(rpc) {
        match (field, value) {
            (PUBLISH, FieldValue::Bytes(_)) => counts.messages += 1,
            (CONTROL, FieldValue::Bytes(control)) => count_control(control, counts),
            _ => {}
        }
    }
}

fn count_control(control: &[u8], counts: &mut ControlCounts) {
    for (field, value) in fields(control) {
        let FieldValue::Bytes(entry) = value else {
            continue;
        };
        match field {
            IHAVE => counts.ihave += 1,
            IWANT => counts.iwant += 1,
            GRAFT => counts.graft += 1,
            IDONTWANT => counts.idontwant += 1,
            PRUNE => {
                counts.prune += 1;
                for (field, value) in fields(entry) {
                    if let (BACKOFF, FieldValue::Varint(seconds)) = (field, value) {
                        counts.prune_with_backoff += 1;
                        counts.prune_backoff_s = Some(seconds);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the fields of a protobuf message, up to its end or its first error.
fn fields(message: &[u8]) -> impl Iterator<Item = (u32, FieldValue<'_>)> {
    let mut reader = FieldReader::new(message);
    std::iter::from_fn(move || reader.field().ok()?)
}
