//! Messages sent by the light node, each followed to its final state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::node::Node;

/// Interval at which the node is polled for final states.
const POLL: Duration = Duration::from_millis(200);

/// Final state of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendEnd {
    /// A store has the message with this hash.
    Stored(String),
    /// Another node has the message with this hash; no store confirmed it.
    Propagated(String),
    /// The message failed, for this reason.
    Failed(String),
}

/// Messages that the light node accepted, and their final states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentMessages {
    waiting: BTreeSet<String>,
    ends: BTreeMap<String, SendEnd>,
    refused: u32,
    /// Messages with two final states, or with one although they were never accepted.
    odd: u32,
}

impl SentMessages {
    /// Sends a text through the light node.
    pub async fn send(&mut self, light: &Node, content_topic: &str, text: &str) {
        let body = serde_json::json!({
            "payload": STANDARD.encode(text),
            "contentTopic": content_topic,
        });
        let body = body.to_string();
        let answer = light.ask("POST", "/messaging/v1/messages", Some(&body));
        let answer = answer.await.filter(|(status, _)| *status == 200);
        let answer: Option<Value> = answer.and_then(|(_, body)| serde_json::from_str(&body).ok());
        match answer
            .as_ref()
            .and_then(|answer| answer["requestId"].as_str())
        {
            Some(id) => {
                self.waiting.insert(id.to_owned());
            }
            None => self.refused += 1,
        }
    }

    /// Waits until each message has a final state, or the time is over.
    pub async fn wait_ends(&mut self, light: &Node, patience: Duration) {
        let until = Instant::now() + patience;
        while !self.waiting.is_empty() && Instant::now() < until {
            self.note_ends(light).await;
            tokio::time::sleep(POLL).await;
        }
    }

    /// Polls the light node once for final states.
    pub async fn note_ends(&mut self, light: &Node) {
        let answer = light.ask("GET", "/messaging/v1/events/send", None).await;
        if let Some((200, page)) = answer {
            self.record(&serde_json::from_str(&page).unwrap_or_default());
        }
    }

    /// Records the final states in an answer of the node.
    fn record(&mut self, page: &Value) {
        for message in page.as_array().into_iter().flatten() {
            let id = message["requestId"].as_str().unwrap_or_default();
            let events = message["events"].as_array().into_iter().flatten();
            for event in events.filter(|event| event["isEnd"] == true) {
                let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
                let end = match event["kind"].as_str() {
                    Some("sent") => SendEnd::Stored(text("messageHash")),
                    Some("propagated") => SendEnd::Propagated(text("messageHash")),
                    _ => SendEnd::Failed(text("error")),
                };
                self.odd += u32::from(!self.waiting.remove(id));
                self.ends.insert(id.to_owned(), end);
            }
        }
    }

    /// Returns the number of accepted messages.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.waiting.len() + self.ends.len()
    }

    /// Returns the final states of the messages that have one.
    pub fn ends(&self) -> impl Iterator<Item = &SendEnd> {
        self.ends.values()
    }

    /// Describes the messages without a final state, those that failed, and those reported as stored that no store
    /// holds. Returns `None` if every message is accounted for.
    #[must_use]
    pub fn complaint(&self, held: &BTreeSet<String>) -> Option<String> {
        let mut wrong: Vec<_> = self
            .waiting
            .iter()
            .map(|id| format!("{id} has no end"))
            .collect();
        for (id, end) in &self.ends {
            match end {
                SendEnd::Failed(reason) => wrong.push(format!("{id} failed: {reason}")),
                SendEnd::Stored(hash) if !held.contains(hash) => {
                    wrong.push(format!("{id}: no store holds {hash}"));
                }
                _ => {}
            }
        }
        if self.odd > 0 {
            wrong.push(format!("{} ends too many", self.odd));
        }
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }
}

impl fmt::Display for SentMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |is_it: fn(&SendEnd) -> bool| self.ends().filter(|end| is_it(end)).count();
        write!(
            f,
            "{} sent by the light node: {} stored, {} propagated, {} failed, {} without an end; {} refused",
            self.accepted(),
            count(|end| matches!(end, SendEnd::Stored(_))),
            count(|end| matches!(end, SendEnd::Propagated(_))),
            count(|end| matches!(end, SendEnd::Failed(_))),
            self.waiting.len(),
            self.refused
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(id: &str, kind: &str, is_end: bool) -> Value {
        serde_json::json!([{"requestId": id, "events": [
            {"kind": kind, "messageHash": format!("0x{id}"), "error": "why", "isEnd": is_end}
        ]}])
    }

    #[test]
    fn each_message_is_accounted_for_or_named() {
        let mut sent = SentMessages {
            waiting: ["1", "2", "3", "4"].map(str::to_owned).into(),
            ..SentMessages::default()
        };
        for (id, kind) in [("1", "sent"), ("2", "sent"), ("3", "error")] {
            sent.record(&page(id, "propagated", false));
            sent.record(&page(id, kind, true));
        }
        let held = BTreeSet::from(["0x1".to_owned()]);
        assert_eq!(
            sent.complaint(&held).unwrap(),
            "4 has no end; 2: no store holds 0x2; 3 failed: why"
        );
        sent.record(&page("1", "sent", true));
        assert!(sent.complaint(&held).unwrap().ends_with("1 ends too many"));
        assert_eq!(sent.accepted(), 4);
    }

    #[test]
    fn nothing_is_wrong_if_all_are_held() {
        let mut sent = SentMessages {
            waiting: ["1", "2"].map(str::to_owned).into(),
            ..SentMessages::default()
        };
        sent.record(&page("1", "sent", true));
        sent.record(&page("2", "propagated", true));
        assert_eq!(sent.complaint(&BTreeSet::from(["0x1".to_owned()])), None);
    }
}
