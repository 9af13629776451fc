//! Decodes RPCs: every count and length is compared with its limit before memory is allocated.

use bytes::Bytes;
use undertone_wire::{FieldError, FieldReader, FieldValue};

use super::{IHave, Prune, PxPeer, Rpc, STEM_FIELD, Subscription, WireMessage};
use crate::error::Malformed;
use crate::limits::Limits;
use crate::types::{MessageId, Topic};

impl From<FieldError> for Malformed {
    fn from(error: FieldError) -> Self {
        match error {
            FieldError::Varint { error, .. } => Self::Varint(error),
            FieldError::Truncated { .. } => Self::Truncated,
            // Other numbers are not checked here: those above the specification's count as unknown.
            FieldError::FieldNumber { .. } => Self::FieldZero,
            FieldError::WireType { wire_type, .. } => Self::WireType { wire_type },
        }
    }
}

/// Reader of the fields of one message within the RPC.
struct Fields<'a>(FieldReader<'a>);

impl<'a> Fields<'a> {
    fn new(message: &'a [u8]) -> Self {
        Self(FieldReader::new(message))
    }

    #[inline]
    fn next(&mut self) -> Result<Option<(u64, FieldValue<'a>)>, Malformed> {
        let Some(tag) = self.0.tag()? else {
            return Ok(None);
        };
        let value = self.0.value(tag)?;
        match tag.number {
            0 => Err(Malformed::FieldZero),
            number => Ok(Some((number, value))),
        }
    }
}

/// Frame being decoded and the number of fields and ids ignored in it. Each of these costs a few nanoseconds to
/// skip and two bytes to send.
struct Decoder<'a> {
    frame: &'a Bytes,
    limits: &'a Limits,
    unknown_fields: usize,
    skipped_ids: usize,
}

impl Decoder<'_> {
    /// Returns a part of the frame without copying it.
    fn share(&self, part: &[u8]) -> Bytes {
        self.frame.slice_ref(part)
    }

    fn topic(&self, name: &[u8]) -> Result<Topic, Malformed> {
        if name.len() > self.limits.topic_bytes_max {
            return Err(Malformed::TopicTooLong {
                len: name.len(),
                max: self.limits.topic_bytes_max,
            });
        }
        Topic::from_utf8(self.share(name)).ok_or(Malformed::TopicNotUtf8)
    }

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

/// Keeps an id if it has the right length and there is room; others are skipped, as the specification
/// truncates long lists instead of refusing them.
fn push_id(
    ids: &mut Vec<MessageId>,
    already: usize,
    bytes: &[u8],
    decoder: &mut Decoder<'_>,
) -> Result<(), Malformed> {
    if already + ids.len() < decoder.limits.ids_per_rpc_max
        && let Ok(id) = <[u8; MessageId::LEN]>::try_from(bytes)
    {
        ids.push(MessageId(id));
        Ok(())
    } else {
        decoder.skipped_id()
    }
}

/// Decodes one RPC (without its length prefix).
///
/// A few unknown fields are skipped. Lists of ids are truncated at their limit, and the same number of ids may
/// be skipped; anything else over a limit refuses the frame.
///
/// # Errors
/// Returns [`Malformed`] with the reason why the frame is refused.
pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Rpc, Malformed> {
    if frame.len() > limits.frame_bytes_max {
        return Err(Malformed::FrameTooLarge {
            len: frame.len(),
            max: limits.frame_bytes_max,
        });
    }
    let (mut rpc, mut iwant_entries) = (Rpc::default(), 0);
    let decoder = &mut Decoder {
        frame,
        limits,
        unknown_fields: 0,
        skipped_ids: 0,
    };
    let mut fields = Fields::new(frame);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => {
                let n = rpc.subscriptions.len();
                within("subscriptions", n, limits.subscriptions_per_rpc_max)?;
                rpc.subscriptions.push(subscription(b, decoder)?);
            }
            (2, FieldValue::Bytes(b)) => {
                within("messages", rpc.messages.len(), limits.messages_per_rpc_max)?;
                rpc.messages.push(message(b, decoder)?);
            }
            (3, FieldValue::Bytes(b)) => control(b, &mut rpc, &mut iwant_entries, decoder)?,
            (number, FieldValue::Varint(1)) if number == u64::from(STEM_FIELD) && !rpc.stem => {
                rpc.stem = true;
            }
            _ => decoder.unknown_field()?,
        }
    }
    Ok(rpc)
}

fn subscription(bytes: &[u8], decoder: &mut Decoder<'_>) -> Result<Subscription, Malformed> {
    let (mut subscribe, mut name) = (false, None);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Varint(n)) => subscribe = n != 0,
            (2, FieldValue::Bytes(b)) => name = Some(decoder.topic(b)?),
            _ => decoder.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "SubOpts.topicid",
    })?;
    Ok(Subscription { subscribe, topic })
}

fn message(bytes: &[u8], decoder: &mut Decoder<'_>) -> Result<WireMessage, Malformed> {
    let (mut data, mut name, mut signed) = (Bytes::new(), None, false);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (2, FieldValue::Bytes(b)) => data = decoder.share(b),
            (4, FieldValue::Bytes(b)) => name = Some(decoder.topic(b)?),
            // An empty field is an artefact of proto2 encoders, not a signature.
            (1 | 3 | 5 | 6, FieldValue::Bytes(b)) => signed |= !b.is_empty(),
            _ => decoder.unknown_field()?,
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
    bytes: &[u8],
    rpc: &mut Rpc,
    iwant_entries: &mut usize,
    decoder: &mut Decoder<'_>,
) -> Result<(), Malformed> {
    let max = decoder.limits.control_entries_per_rpc_max;
    let mut fields = Fields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        let FieldValue::Bytes(b) = value else {
            decoder.unknown_field()?;
            continue;
        };
        match number {
            1 => {
                within("IHAVE", rpc.ihave.len(), max)?;
                let already = rpc.ihave.iter().map(|i| i.ids.len()).sum();
                rpc.ihave.push(ihave(b, already, decoder)?);
            }
            2 => {
                within("IWANT", *iwant_entries, max)?;
                *iwant_entries += 1;
                id_list(b, &mut rpc.iwant, decoder)?;
            }
            3 => {
                within("GRAFT", rpc.graft.len(), max)?;
                rpc.graft.push(graft(b, decoder)?);
            }
            4 => {
                within("PRUNE", rpc.prune.len(), max)?;
                rpc.prune.push(prune(b, decoder)?);
            }
            5 => {
                within("IDONTWANT", rpc.idontwant_entries, max)?;
                rpc.idontwant_entries += 1;
                id_list(b, &mut rpc.idontwant, decoder)?;
            }
            _ => decoder.unknown_field()?,
        }
    }
    Ok(())
}

fn ihave(bytes: &[u8], already: usize, decoder: &mut Decoder<'_>) -> Result<IHave, Malformed> {
    let (mut name, mut ids) = (None, Vec::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => name = Some(decoder.topic(b)?),
            (2, FieldValue::Bytes(b)) => push_id(&mut ids, already, b, decoder)?,
            _ => decoder.unknown_field()?,
        }
    }
    let topic = name.ok_or(Malformed::Missing {
        field: "ControlIHave.topicID",
    })?;
    Ok(IHave { topic, ids })
}

fn id_list(
    bytes: &[u8],
    ids: &mut Vec<MessageId>,
    decoder: &mut Decoder<'_>,
) -> Result<(), Malformed> {
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => push_id(ids, 0, b, decoder)?,
            _ => decoder.unknown_field()?,
        }
    }
    Ok(())
}

fn graft(bytes: &[u8], decoder: &mut Decoder<'_>) -> Result<Topic, Malformed> {
    let mut name = None;
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => name = Some(decoder.topic(b)?),
            _ => decoder.unknown_field()?,
        }
    }
    name.ok_or(Malformed::Missing {
        field: "ControlGraft.topicID",
    })
}

fn prune(bytes: &[u8], decoder: &mut Decoder<'_>) -> Result<Prune, Malformed> {
    let (mut name, mut peers, mut backoff_s) = (None, Vec::new(), None);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => name = Some(decoder.topic(b)?),
            (2, FieldValue::Bytes(b)) if peers.len() < decoder.limits.px_peers_per_prune_max => {
                peers.extend(px_peer(b, decoder)?);
            }
            (3, FieldValue::Varint(n)) => backoff_s = Some(n),
            _ => decoder.unknown_field()?,
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
fn px_peer(bytes: &[u8], decoder: &mut Decoder<'_>) -> Result<Option<PxPeer>, Malformed> {
    let (mut peer_id, mut record) = (&[][..], &[][..]);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, FieldValue::Bytes(b)) => peer_id = b,
            (2, FieldValue::Bytes(b)) => record = b,
            _ => decoder.unknown_field()?,
        }
    }
    let fits = peer_id.len().max(record.len()) <= decoder.limits.px_record_bytes_max;
    Ok((fits && !peer_id.is_empty()).then(|| PxPeer {
        peer_id: decoder.share(peer_id),
        record: decoder.share(record),
    }))
}
