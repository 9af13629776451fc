//! `undertone store query`: lists messages of a store.

use std::fmt;

use serde::Serialize;
use undertone_services::history::HistoryEntry;

use super::options::Selection;
use super::source::HistorySource;
use crate::commands::{Failure, output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// List at most this many messages, the oldest first
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_messages: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QueryListing {
    messages: Vec<PrintedMessage>,
    /// Whether the store has more messages.
    is_cut: bool,
}

/// Message of a store; fields are `None` if the message could not be read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedMessage {
    hash: String,
    timestamp_ns: Option<i64>,
    pubsub_topic: Option<String>,
    content_topic: Option<String>,
    /// Payload in hexadecimal digits.
    payload: Option<String>,
    has_proof: bool,
}

pub(super) async fn run(args: &Args, json: bool) -> Result<(), Failure> {
    super::log()?;
    let mut source = HistorySource::open(&args.selection, args.max_messages).await?;
    let listed = list(args, &mut source).await;
    source.close().await;
    output::print(&listed?, json)
}

async fn list(args: &Args, source: &mut HistorySource) -> Result<QueryListing, Failure> {
    let mut listed = QueryListing {
        messages: Vec::new(),
        is_cut: false,
    };
    while let Some(page) = source.page().await? {
        let unreadable = page
            .unreadable
            .into_iter()
            .map(|hash| HistoryEntry { hash, data: None });
        let messages = page.entries.into_iter().chain(unreadable);
        listed.messages.extend(messages.map(PrintedMessage::of));
        if listed.messages.len() > args.max_messages {
            listed.messages.truncate(args.max_messages);
            listed.is_cut = true;
            break;
        }
    }
    Ok(listed)
}

impl PrintedMessage {
    fn of(entry: HistoryEntry) -> Self {
        let data = entry.data.as_ref();
        let message = data.map(|data| &data.message);
        Self {
            hash: entry.hash.to_string(),
            timestamp_ns: message.map(|message| message.timestamp_ns()),
            pubsub_topic: data.map(|data| data.pubsub_topic.to_string()),
            content_topic: message.map(|message| message.content_topic.to_string()),
            payload: message.map(|message| hex::encode(&message.payload)),
            has_proof: message.is_some_and(|message| {
                let proof = message.rate_limit_proof.as_ref();
                proof.is_some_and(|proof| !proof.is_empty())
            }),
        }
    }
}

impl fmt::Display for QueryListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.messages {
            let bytes = one.payload.as_ref().map_or(0, |payload| payload.len() / 2);
            let topic = one.content_topic.as_deref().unwrap_or("(cannot be read)");
            let proof = if one.has_proof { "" } else { ", no proof" };
            let timestamp_ns = one.timestamp_ns.unwrap_or(0);
            // Strangers choose the topics, and a terminal obeys control characters.
            let topic = topic.escape_debug();
            writeln!(
                f,
                "{} {timestamp_ns} {topic} {bytes} bytes{proof}",
                one.hash
            )?;
        }
        if self.is_cut {
            writeln!(f, "and more; --max-messages N lists more of them")?;
        }
        Ok(())
    }
}
