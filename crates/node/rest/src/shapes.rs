//! JSON form of a message, `RelayWakuMessage`.

use std::{collections::BTreeSet, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor},
};
use undertone_message::{WakuMessage, message::MAX_META_BYTES};
use utoipa::ToSchema;

#[cfg(test)]
#[path = "tests/shapes.rs"]
mod tests;

/// A message in the form that clients send and receive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RelayWakuMessage {
    /// Bytes of the application, base64.
    #[schema(
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        min_length = 4
    )]
    payload: String,
    #[schema(min_length = 1, pattern = "\\S", example = "/my-app/1/chat/proto")]
    content_topic: String,
    /// Encryption of the payload (RFC 26); 0 if missing.
    #[schema(
        nullable = false,
        value_type = Option<i64>,
        minimum = 0,
        maximum = 4_294_967_295_u64
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    /// Unix time in nanoseconds; the node's clock if missing or 0.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<i64>,
    /// At most 64 bytes, base64.
    #[schema(
        nullable = false,
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        max_length = 88
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<String>,
    /// Whether stores should not keep the message.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    ephemeral: Option<bool>,
    /// Proof of rate limiting, base64; the node makes one if it is missing.
    #[schema(
        nullable = false,
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

impl From<&WakuMessage> for RelayWakuMessage {
    /// Fills in every field of an answer, except that an empty `meta` is omitted.
    fn from(message: &WakuMessage) -> Self {
        let meta = message.meta_bytes();
        Self {
            payload: STANDARD.encode(&message.payload),
            content_topic: message.content_topic.to_string(),
            version: Some(message.version.unwrap_or(0)),
            timestamp: Some(message.timestamp_ns()),
            meta: (!meta.is_empty()).then(|| STANDARD.encode(meta)),
            ephemeral: Some(message.is_ephemeral()),
            proof: Some(STANDARD.encode(message.rate_limit_proof.as_deref().unwrap_or(&[]))),
        }
    }
}

impl RelayWakuMessage {
    /// Converts a message of a store, with its proof if it has one.
    pub(super) fn stored(message: &WakuMessage) -> Self {
        let form = Self::from(message);
        Self {
            proof: form.proof.filter(|proof| !proof.is_empty()),
            ..form
        }
    }

    /// Converts a message pushed by a filter peer, without its proof.
    pub(super) fn pushed(message: &WakuMessage) -> Self {
        Self {
            proof: None,
            ..Self::from(message)
        }
    }

    /// Whether the node chooses the timestamp. A proof fixes it, since the timestamp is part of the signal.
    pub(super) fn leaves_the_time_to_us(&self) -> bool {
        self.timestamp.is_none_or(|time| time == 0)
            && self.proof.as_deref().is_none_or(str::is_empty)
    }

    /// Converts to a message, stamped with `now_ns` (Unix time, nanoseconds) if it has no timestamp.
    pub(super) fn into_message(self, now_ns: i64) -> Result<WakuMessage, String> {
        let decode = |text: &str| {
            STANDARD
                .decode(text)
                .map_err(|_| "Incorrect base64 string".to_owned())
        };
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let meta = non_empty(self.meta).as_deref().map(decode).transpose()?;
        if let Some(meta) = &meta
            && meta.len() > MAX_META_BYTES
        {
            return Err(format!(
                "meta has {} bytes; at most {MAX_META_BYTES} are accepted",
                meta.len()
            ));
        }
        let proof = non_empty(self.proof).as_deref().map(decode).transpose()?;
        Ok(WakuMessage {
            version: Some(self.version.unwrap_or(0)),
            timestamp: Some(self.timestamp.filter(|time| *time != 0).unwrap_or(now_ns)),
            meta: meta.map(Into::into),
            rate_limit_proof: proof.map(Into::into),
            ephemeral: Some(self.ephemeral.unwrap_or(false)),
            ..WakuMessage::new(decode(&self.payload)?, self.content_topic)
        })
    }
}

impl<'de> Deserialize<'de> for RelayWakuMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessageVisitor)
    }
}

/// Visitor written by hand, because nwaku rejects duplicate keys, unknown keys and `null`.
struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = RelayWakuMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a RelayWakuMessage object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut seen = BTreeSet::new();
        let (mut payload, mut content_topic) = (String::new(), String::new());
        let (mut version, mut timestamp, mut meta) = (None, None, None);
        let (mut ephemeral, mut proof) = (None, None);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "payload" => payload = map.next_value()?,
                "contentTopic" => content_topic = map.next_value()?,
                "version" => version = Some(map.next_value()?),
                "timestamp" => timestamp = Some(map.next_value()?),
                "meta" => meta = Some(map.next_value()?),
                "ephemeral" => ephemeral = Some(map.next_value()?),
                "proof" => proof = Some(map.next_value()?),
                // A misspelt key would otherwise silently omit a field.
                unknown => {
                    return Err(de::Error::custom(format!("Unknown field `{unknown}`")));
                }
            }
            if let Some(name) = seen.replace(name) {
                return Err(de::Error::custom(format!("Multiple `{name}` fields found")));
            }
        }
        for (name, value) in [("payload", &payload), ("contentTopic", &content_topic)] {
            if value.trim().is_empty() {
                return Err(de::Error::custom(format!(
                    "Field `{name}` is missing or empty"
                )));
            }
        }
        Ok(RelayWakuMessage {
            payload,
            content_topic,
            version,
            timestamp,
            meta,
            ephemeral,
            proof,
        })
    }
}
