//! Reading the nodes' delivery logs.

use std::fs;
use std::path::Path;

use undertone_node::delivery_log::DeliveryLine;

use super::error::RunError;

/// Delivery of one message at one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedDelivery {
    /// Number of the message in the plan.
    pub(crate) message: u32,
    /// Peer that sent the first copy; `None` at the publisher.
    pub(crate) from: Option<String>,
    pub(crate) received_ns: u64,
    pub(crate) validated_ns: u64,
}

/// Contents of one node's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeLog {
    pub(crate) delivered: Vec<LoggedDelivery>,
    /// Pairs of times at which a proof was requested and made, nanoseconds, in the log's order.
    pub(crate) proofs: Vec<(u64, u64)>,
}

/// Returns the content topic that identifies a message in the logs.
pub(crate) fn content_topic(message: u32) -> String {
    format!("/undertone/1/testbed-{message}/proto")
}

fn message_of(content_topic: &str) -> Option<u32> {
    let number = content_topic.strip_prefix("/undertone/1/testbed-")?;
    number.strip_suffix("/proto")?.parse().ok()
}

/// Reads a log; an absent file counts as an empty log, because a node without deliveries writes none.
pub(crate) fn read(path: &Path) -> Result<NodeLog, RunError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let path = path.to_owned();
            return Err(RunError::Folder { path, error });
        }
    };
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<NodeLog, RunError> {
    let mut log = NodeLog::default();
    // A last line without a line break is still being written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (index, line) in whole.lines().enumerate() {
        let parsed = serde_json::from_str(line).map_err(|error| RunError::Log {
            path: path.to_owned(),
            line: index + 1,
            error,
        })?;
        match parsed {
            DeliveryLine::Proved { asked_ns, made_ns } => log.proofs.push((asked_ns, made_ns)),
            DeliveryLine::Delivered {
                content_topic,
                from,
                received_ns,
                validated_ns,
                ..
            } => {
                let Some(message) = message_of(&content_topic) else {
                    continue;
                };
                log.delivered.push(LoggedDelivery {
                    message,
                    from,
                    received_ns,
                    validated_ns,
                });
            }
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"event":"proved","asked_ns":5,"made_ns":9}
{"event":"delivered","id":"ab","content_topic":"/undertone/1/testbed-7/proto","payload_bytes":3,"from":null,"received_ns":10,"validated_ns":11}
{"event":"delivered","id":"cd","content_topic":"/other/1/thing/proto","payload_bytes":3,"from":"x","received_ns":10,"validated_ns":11}
{"event":"deliv"#;

    #[test]
    fn our_messages_and_proofs_are_read_and_an_unfinished_line_is_not() {
        let log = parse(LINES, Path::new("log")).unwrap();
        assert_eq!(log.proofs, [(5, 9)]);
        assert_eq!(log.delivered.len(), 1);
        assert_eq!(log.delivered[0].message, 7);
        assert_eq!(log.delivered[0].validated_ns, 11);
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let text = format!("{}\n", LINES.replace("\"made_ns\":9", "\"made_ns\":-9"));
        let error = parse(&text, Path::new("a/log")).unwrap_err().to_string();
        assert!(error.starts_with("a/log:1: "), "{error}");
    }

    #[test]
    fn a_message_is_known_by_its_topic() {
        assert_eq!(message_of(&content_topic(12)), Some(12));
        assert_eq!(message_of("/undertone/1/testbed-x/proto"), None);
    }
}
