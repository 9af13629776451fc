//! Encoding of a [`WakuMessage`].

use undertone_wire::{
    bytes_field_len, put_bytes_field, put_varint_field, varint_field_len, zigzag,
};

use super::{WakuMessage, field};

impl WakuMessage {
    /// Encodes the message as protobuf, with the fields in ascending order.
    ///
    /// Payload and content topic are written even when empty, because nwaku refuses a message
    /// without them; an optional field is written exactly when it is `Some`.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_len());
        put_bytes_field(&mut out, field::PAYLOAD, &self.payload);
        put_bytes_field(
            &mut out,
            field::CONTENT_TOPIC,
            self.content_topic.as_bytes(),
        );
        if let Some(version) = self.version {
            put_varint_field(&mut out, field::VERSION, u64::from(version));
        }
        if let Some(timestamp) = self.timestamp {
            put_varint_field(&mut out, field::TIMESTAMP, zigzag(timestamp));
        }
        if let Some(meta) = &self.meta {
            put_bytes_field(&mut out, field::META, meta);
        }
        if let Some(proof) = &self.rate_limit_proof {
            put_bytes_field(&mut out, field::RATE_LIMIT_PROOF, proof);
        }
        if let Some(ephemeral) = self.ephemeral {
            put_varint_field(&mut out, field::EPHEMERAL, u64::from(ephemeral));
        }
        out
    }

    /// Returns the length of [`encode`](Self::encode)'s result in bytes, which networks limit.
    pub fn encoded_len(&self) -> usize {
        let varint = |number, value: Option<u64>| value.map_or(0, |v| varint_field_len(number, v));
        let bytes =
            |number, value: Option<&[u8]>| value.map_or(0, |v| bytes_field_len(number, v.len()));
        bytes(field::PAYLOAD, Some(&self.payload))
            + bytes(field::CONTENT_TOPIC, Some(self.content_topic.as_bytes()))
            + varint(field::VERSION, self.version.map(u64::from))
            + varint(field::TIMESTAMP, self.timestamp.map(zigzag))
            + bytes(field::META, self.meta.as_deref())
            + bytes(field::RATE_LIMIT_PROOF, self.rate_limit_proof.as_deref())
            + varint(field::EPHEMERAL, self.ephemeral.map(u64::from))
    }
}
