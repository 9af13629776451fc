//! Folders in which nodes live, and what is published through them.

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use undertone_node_process::command;

use crate::support::process::{Node, Rest};

/// Pubsub topic of the tests.
pub(crate) const SHARD: &str = "/waku/2/rs/66/0";

/// Folder in which a node lives, also when its process ends and another one starts.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts a node with flags, and waits until it runs.
    pub(crate) fn start(&self, flags: &[&str]) -> Node {
        let mut command = command(env!("CARGO_BIN_EXE_undertone"));
        command.args(["node", "--json", "--network", "local", "--rln=false"]);
        command.args(["--listen-address", "127.0.0.1", "--tcp-port", "0"]);
        command
            .args(["--rest-port", "0", "--rest-admin", "--rest-auth=none"])
            .args(flags);
        command.arg("--data-dir").arg(self.path("data"));
        Node::start(&mut command, &self.path("said"))
    }
}

/// Publishes a message of a content topic; returns whether the node has acknowledged it.
pub(crate) fn publish(rest: &Rest, shard: &str, content_topic: &str) -> bool {
    let message = json!({ "payload": "bG9hZA==", "contentTopic": content_topic });
    let path = format!("/relay/v1/messages/{}", shard.replace('/', "%2F"));
    let answer = rest.ask("POST", &path, &message.to_string());
    matches!(answer, Some((200, _)))
}
