//! Decodes RPCs: every count and length is compared with its limit before memory is allocated.

use bytes::Bytes;

use super::varint::read_varint;
use super::{IHave, Prune, PxPeer, Rpc, Subscription, WireMessage};
use crate::error::Malformed;
use crate::limits::Limits;
use crate::types::{MessageId, Topic};

/// One field of a protobuf message.
struct Field {
    number: u64,
    value: Value,
}

enum Value {
    Number(u64),
    Bytes(Bytes),
    /// A 32- or 64-bit fixed field; no known field has this type, so its value is not kept.
    Fixed,
}

/// Reader of the fields of one protobuf message.
struct Fields(Bytes);

impl Fields {
    fn next(&mut self) -> Result<Option<Field>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.skip(8)?,
            2 => {
                let len = self.varint()?;
                let len = usize::try_from(len).map_err(|_| Malformed::Truncated)?;
                if len > self.0.len() {
                    return Err(Malformed::Truncated);
                }
                Value::Bytes(self.0.split_to(len))
            }
            5 => self.skip(4)?,
            wire_type => {
                return Err(Malformed::WireType {
                    wire_type: wire_type as u8,
                });
            }
        };
        match tag >> 3 {
            0 => Err(Malformed::FieldZero),
            number => Ok(Some(Field { number, value })),
        }
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let (value, len) = read_varint(&self.0)?;
        let _ = self.0.split_to(len);
        Ok(value)
    }

    fn skip(&mut self, len: usize) -> Result<Value, Malformed> {
        if len > self.0.len() {
            return Err(Malformed::Truncated);
        }
        let _ = self.0.split_to(len);
        Ok(Value::Fixed)
    }
}

/// Counts the ignored fields and ids of one RPC. Each costs a few nanoseconds to skip and two bytes to send.
struct Spare<'a> {
    limits: &'a Limits,
    unknown_fields: usize,
    skipped_ids: usize,
}

impl Spare<'_> {
    fn unknown_field(&mut self) -> Result<(), Malformed> {
        let max = self.limits.unknown_fields_per_rpc_max;
        within("unknown fields", self.unknown_fields, max)?;
        self.unknown_fields += 1;
        Ok(())
    }

    fn skipped_id(&mut self) -> Result<(), Malformed> {
        let max = self.limits.ids_per_rpc_max;
        within("skipped message ids", self.skipped_ids, max)?;
        self.skipped_ids += 1;
        Ok(())
    }
}

/// Returns an error if the `n`-th element (from 0) of a list exceeds its maximum `max`.
fn within(what: &'static str, n: usize, max: usize) -> Result<(), Malformed> {
    if n < max {
        Ok(())
    } else {
        Err(Malformed::TooMany { what, max })
    }
}

fn topic(bytes: Bytes, limits: &Limits) -> Result<Topic, Malformed> {
    if bytes.len() > limits.topic_bytes_max {
        return Err(Malformed::TopicTooLong {
            len: bytes.len(),
            max: limits.topic_bytes_max,
        });
    }
    Topic::from_utf8(bytes).ok_or(Malformed::TopicNotUtf8)
}

/// Keeps an id if it has the right length and there is room; others are skipped, as the specification
/// truncates long lists instead of refusing them.
fn push_id(
    ids: &mut Vec<MessageId>,
    already: usize,
    bytes: &Bytes,
    spare: &mut Spare<'_>,
) -> Result<(), Malformed> {
    if already + ids.len() < spare.limits.ids_per_rpc_max
        && let Ok(id) = <[u8; MessageId::LEN]>::try_from(&bytes[..])
    {
        ids.push(MessageId(id));
        Ok(())
    } else {
        spare.skipped_id()
    }
}

/// Decodes one RPC (without its length prefix).
///
/// A few unknown fields are skipped. Lists of ids are truncated at their limit, and as many ids may be
/// skipped; anything else over a limit refuses the frame.
///
/// # Errors
/// Returns [`Malformed`] with the reason for which the frame is refused.
pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Rpc, Malformed> {
    if frame.len() > limits.frame_bytes_max {
        return Err(Malformed::FrameTooLarge {
            len: frame.len(),
            max: limits.frame_bytes_max,
        });
    }
    let (mut rpc, mut iwant_entries) = (Rpc::default(), 0);
    let spare = &mut Spare {
        limits,
        unknown_fields: 0,
        skipped_ids: 0,
    };
    let mut fields = Fields(frame.clone());
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => {
                let n = rpc.subscriptions.len();
                within("subscriptions", n, limits.subscriptions_per_rpc_max)?;
                rpc.subscriptions.push(subscription(b, spare)?);
            }
            (2, Value::Bytes(b)) => {
                within("messages", rpc.messages.len(), limits.messages_per_rpc_max)?;
                rpc.messages.push(message(b, spare)?);
            }
            (3, Value::Bytes(b)) => control(b, &mut rpc, &mut iwant_entries, spare)?,
            _ => spare.unknown_field()?,
        }
    }
    Ok(rpc)
}

fn subscription(bytes: Bytes, spare: &mut Spare<'_>) -> Result<Subscription, Malformed> {
    let (mut subscribe, mut name) = (false, None);
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Number(n)) => subscribe = n != 0,
            (2, Value::Bytes(b)) => name = Some(topic(b, spare.limits)?),
            _ => spare.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "SubOpts.topicid",
    })?;
    Ok(Subscription { subscribe, topic })
}

fn message(bytes: Bytes, spare: &mut Spare<'_>) -> Result<WireMessage, Malformed> {
    let (mut data, mut name, mut signed) = (Bytes::new(), None, false);
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (2, Value::Bytes(b)) => data = b,
            (4, Value::Bytes(b)) => name = Some(topic(b, spare.limits)?),
            // An empty field is an artefact of proto2 encoders, not a signature.
            (1 | 3 | 5 | 6, Value::Bytes(b)) => signed |= !b.is_empty(),
            _ => spare.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "Message.topic",
    })?;
    Ok(WireMessage {
        topic,
        data,
        signed,
    })
}

/// Decodes one control message. A frame may hold several, so entries are counted over all of them.
fn control(
    bytes: Bytes,
    rpc: &mut Rpc,
    iwant_entries: &mut usize,
    spare: &mut Spare<'_>,
) -> Result<(), Malformed> {
    let max = spare.limits.control_entries_per_rpc_max;
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        let Value::Bytes(b) = field.value else {
            spare.unknown_field()?;
            continue;
        };
        match field.number {
            1 => {
                within("IHAVE", rpc.ihave.len(), max)?;
                let already = rpc.ihave.iter().map(|i| i.ids.len()).sum();
                rpc.ihave.push(ihave(b, already, spare)?);
            }
            2 => {
                within("IWANT", *iwant_entries, max)?;
                *iwant_entries += 1;
                id_list(b, &mut rpc.iwant, spare)?;
            }
            3 => {
                within("GRAFT", rpc.graft.len(), max)?;
                rpc.graft.push(graft(b, spare)?);
            }
            4 => {
                within("PRUNE", rpc.prune.len(), max)?;
                rpc.prune.push(prune(b, spare)?);
            }
            5 => {
                within("IDONTWANT", rpc.idontwant_entries, max)?;
                rpc.idontwant_entries += 1;
                id_list(b, &mut rpc.idontwant, spare)?;
            }
            _ => spare.unknown_field()?,
        }
    }
    Ok(())
}

fn ihave(bytes: Bytes, already: usize, spare: &mut Spare<'_>) -> Result<IHave, Malformed> {
    let (mut name, mut ids) = (None, Vec::new());
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => name = Some(topic(b, spare.limits)?),
            (2, Value::Bytes(b)) => push_id(&mut ids, already, &b, spare)?,
            _ => spare.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "ControlIHave.topicID",
    })?;
    Ok(IHave { topic, ids })
}

fn id_list(bytes: Bytes, ids: &mut Vec<MessageId>, spare: &mut Spare<'_>) -> Result<(), Malformed> {
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => push_id(ids, 0, &b, spare)?,
            _ => spare.unknown_field()?,
        }
    }
    Ok(())
}

fn graft(bytes: Bytes, spare: &mut Spare<'_>) -> Result<Topic, Malformed> {
    let mut name = None;
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => name = Some(topic(b, spare.limits)?),
            _ => spare.unknown_field()?,
        }
    }
    name.ok_or(Malformed::Missing {
        field: "ControlGraft.topicID",
    })
}

fn prune(bytes: Bytes, spare: &mut Spare<'_>) -> Result<Prune, Malformed> {
    let (mut name, mut peers, mut backoff_s) = (None, Vec::new(), None);
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => name = Some(topic(b, spare.limits)?),
            (2, Value::Bytes(b)) if peers.len() < spare.limits.px_peers_per_prune_max => {
                peers.extend(px_peer(b, spare)?);
            }
            (3, Value::Number(n)) => backoff_s = Some(n),
            _ => spare.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "ControlPrune.topicID",
    })?;
    Ok(Prune {
        topic,
        peers,
        backoff_s,
    })
}

/// Decodes an offered peer; `None` without a peer id, or when the id or record is longer than allowed.
fn px_peer(bytes: Bytes, spare: &mut Spare<'_>) -> Result<Option<PxPeer>, Malformed> {
    let (mut peer_id, mut record) = (Bytes::new(), Bytes::new());
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(b)) => peer_id = b,
            (2, Value::Bytes(b)) => record = b,
            _ => spare.unknown_field()?,
        }
    }
    let fits = peer_id.len().max(record.len()) <= spare.limits.px_record_bytes_max;
    Ok((fits && !peer_id.is_empty()).then_some(PxPeer { peer_id, record }))
}
