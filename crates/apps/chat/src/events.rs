//! Events of a chat, as lines for people and as JSON for programs.

use serde::Serialize;

use crate::chat_status::{ChatStatus, PublishAllowance};
use crate::own_messages::OwnState;
use crate::text;

#[cfg(test)]
#[path = "tests/events.rs"]
mod tests;

/// Something to tell the user of the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChatEvent {
    /// The chat has begun.
    Ready(ChatStart),
    /// A readable message of somebody else arrived.
    Message(ChatMessage),
    /// A message of the room cannot be read.
    Unreadable {
        /// Time of its arrival, Unix milliseconds.
        at_ms: u64,
        /// Reason, in plain words.
        reason: String,
    },
    /// An own message has a new state.
    Own {
        /// Time of the change, Unix milliseconds.
        at_ms: u64,
        /// Number of the message in this chat.
        number: u64,
        /// Text of the message when it is new, else `None`.
        text: Option<String>,
        /// The new state.
        state: OwnState,
    },
    /// The connection status of the chat may have changed.
    Status {
        /// Time of the check, Unix milliseconds.
        at_ms: u64,
        /// The present status.
        status: ChatStatus,
    },
    /// The chat answers a command, or says something about itself.
    Note {
        /// Time, Unix milliseconds.
        at_ms: u64,
        /// Text of the notice, safe to print on a terminal.
        said: String,
    },
}

/// Start of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatStart {
    /// Time of the start, Unix milliseconds.
    #[serde(rename = "unixMs")]
    pub(crate) at_ms: u64,
    /// Identity of the node.
    pub(crate) peer_id: String,
    /// Addresses at which others can reach the node.
    pub(crate) listen_addresses: Vec<String>,
    /// Content topic of the room.
    pub(crate) content_topic: String,
    /// Shard that carries the room.
    pub(crate) pubsub_topic: String,
    /// Name of this user.
    pub(crate) nick: String,
    /// Whether the room has a key.
    pub(crate) encrypted: bool,
    /// Whether there is a store to query for history.
    pub(crate) history: bool,
}

/// Message of somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatMessage {
    /// Time of arrival, Unix milliseconds; for a message from a store, the time stated by its sender.
    #[serde(rename = "unixMs")]
    pub(crate) at_ms: u64,
    /// Name chosen by the sender, as received, with bytes that are not UTF-8 replaced.
    pub(crate) nick: String,
    /// Text as received, with bytes that are not UTF-8 replaced.
    pub(crate) text: String,
    /// Time from sending to arrival by the clocks of both ends, milliseconds; negative if the sender's clock is ahead.
    pub(crate) latency_ms: Option<i64>,
    /// Whether the message came encrypted.
    pub(crate) encrypted: bool,
    /// Whether the message came in clear text although the room is encrypted.
    #[serde(skip)]
    pub(crate) is_exposed: bool,
    /// Public key that the sender signed with, hexadecimal.
    pub(crate) signed_by: Option<String>,
    /// Whether the message came from a store.
    pub(crate) past: bool,
    /// Hash of the message, hexadecimal.
    pub(crate) hash: String,
}

/// Kind of a line's part; a screen chooses its colour by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Name of a sender.
    Name,
    /// Parts that are less important than the text.
    Quiet,
    /// Text of a message.
    Text,
    /// Parts that need attention.
    Warning,
}

impl ChatMessage {
    /// Returns the line for people, without its time, as parts that are safe to print on a terminal.
    pub(crate) fn parts(&self) -> Vec<(Tone, String)> {
        let nick = text::nick(self.nick.as_bytes());
        let mut parts = Vec::new();
        // Before the name, where the sender cannot write anything.
        if let Some(key) = &self.signed_by {
            // Skip the first byte, which all keys have in common, and show the next six.
            let short = key.get(2..14).unwrap_or(key);
            parts.push((Tone::Quiet, format!("(signed {short}…) ")));
        }
        parts.push((Tone::Name, format!("<{nick}> ")));
        parts.push((Tone::Text, text::message(self.text.as_bytes())));
        if self.is_exposed {
            parts.push((Tone::Warning, " (not encrypted)".to_owned()));
        }
        if !self.past {
            let latency = self
                .latency_ms
                .map_or("no time of sending".to_owned(), latency);
            parts.push((Tone::Quiet, format!(" ({latency})")));
        }
        parts
    }
}

/// Formats a latency in plain words.
fn latency(ms: i64) -> String {
    let size = ms.unsigned_abs();
    let amount = match size {
        0..10_000 => format!("{size} ms"),
        10_000..600_000 => format!("{} s", size / 1000),
        600_000..36_000_000 => format!("{} min", size / 60_000),
        _ => format!("{} h", size / 3_600_000),
    };
    match ms {
        // Even well-kept clocks differ by this much.
        ..-20 => format!("sender's clock {amount} ahead"),
        -20..0 => "0 ms".to_owned(),
        _ => amount,
    }
}

/// Formats the time of day in UTC.
pub(crate) fn clock(at_ms: u64) -> String {
    let s = at_ms / 1000;
    format!("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60)
}

/// Returns the lines that announce the start of a chat.
pub(crate) fn beginning(ready: &ChatStart) -> Vec<String> {
    let mut lines = vec![format!(
        "{} in {} on {}; times are UTC",
        ready.nick, ready.content_topic, ready.pubsub_topic
    )];
    lines.push(match ready.encrypted {
        true => "encrypted: who has the key reads and writes as anybody".to_owned(),
        false => "clear text: everybody in the network can read what is written here".to_owned(),
    });
    if !ready.history {
        lines.push("no history: no store is asked".to_owned());
    }
    let addresses = ready.listen_addresses.iter();
    lines.extend(addresses.map(|address| format!("listening on {address}")));
    lines
}

impl ChatEvent {
    /// Returns the event as one line of JSON; `None` for an event that programs do not get.
    pub(crate) fn json(&self) -> Option<String> {
        let value = match self {
            Self::Ready(ready) => tagged("ready", ready),
            Self::Message(message) => tagged("message", message),
            Self::Unreadable { at_ms, reason } => serde_json::json!({
                "event": "unreadable", "unixMs": at_ms, "reason": reason,
            }),
            Self::Own {
                at_ms,
                number,
                text,
                state,
            } => {
                let mut value = serde_json::json!({
                    "event": "own", "unixMs": at_ms, "number": number, "state": state.name(),
                });
                if let Some(text) = text {
                    value["text"] = text.as_str().into();
                }
                if let Some(hash) = state.hash() {
                    value["hash"] = hash.to_string().into();
                }
                if let Some(reason) = state.reason() {
                    value["reason"] = reason.into();
                }
                value
            }
            Self::Status { at_ms, status } => {
                let mut value = serde_json::json!({
                    "event": "status", "unixMs": at_ms,
                    "connected": status.is_connected(),
                    "peers": status.peers,
                    "peersOfRoom": status.carriers,
                    "mayPublish": !matches!(status.publishing, PublishAllowance::Forbidden { .. }),
                    "connection": status.connection(),
                    "publishing": status.publishing_gist(),
                });
                if let PublishAllowance::Limited(left) = &status.publishing {
                    value["messagesLeftAtMost"] = left.at_most.into();
                    value["messagesPerEpoch"] = left.limit.into();
                    value["epochEndsInS"] = left.epoch_ends_in_s.into();
                }
                value
            }
            Self::Note { .. } => return None,
        };
        Some(text::ascii_json(&value.to_string()).into_owned())
    }
}

/// Returns an object with the name of its event.
fn tagged(event: &str, fields: &impl Serialize) -> serde_json::Value {
    // Strings, numbers and lists of them always have a JSON form.
    let mut value = serde_json::to_value(fields).unwrap_or_default();
    value["event"] = event.into();
    value
}
