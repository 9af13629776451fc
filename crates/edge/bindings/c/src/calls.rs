//! The calls.
#![allow(
    unsafe_code,
    reason = "each call takes pointers of C and is found by its name"
)]

use std::ffi::{CStr, c_char};
use std::ptr;

use undertone_bindings::{UndertoneNode, configuration_keys, enable_logging};

use crate::boundary::{Text, argument, respond};
use crate::nodes::{self, NodeHandle};
use crate::status::UndertoneStatus;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero byte"),
    };

/// Returns the version of the library, which is not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn undertone_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Answers all configuration keys of a node: a list of {name, expected, defaultValue, help}.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_configuration_keys(answer: *mut *mut c_char) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || Ok(configuration_keys())) }
}

/// Writes log lines of all nodes of this process to standard error from now on; once in a process. `level` is such as
/// "info", `format` "text" or "json".
///
/// # Safety
/// `level` and `format` are NULL or texts, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_enable_logging(
    level: *const c_char,
    format: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let (level, format) = (Text::new("level", level), Text::new("format", format));
        respond(answer, || {
            enable_logging(level.required()?, format.required()?)
        })
    }
}

/// Starts a node, waits until it listens, and sets *node; to 0 if it does not start.
///
/// `toml` is a configuration as a file has it, `settings` an object with keys and values, all texts, that override it, such as
/// {"tcp-port": "0"}. NULL stands for none. Nodes of one process need a `data-dir` each.
///
/// # Safety
/// `toml` and `settings` are NULL or texts, `node` can be written to, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_start(
    toml: *const c_char,
    settings: *const c_char,
    node: *mut NodeHandle,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands, and `node` is written to unless it is NULL.
    unsafe {
        let (toml, settings) = (Text::new("toml", toml), Text::new("settings", settings));
        respond(answer, || {
            if node.is_null() {
                return Err(argument(
                    "node",
                    "NULL; a place for the node is needed".to_owned(),
                ));
            }
            node.write(0);
            let toml = toml.optional()?.unwrap_or_default();
            node.write(nodes::add(UndertoneNode::start(
                toml,
                settings.json_or_empty()?,
            )?));
            Ok(())
        })
    }
}

/// Stops the node, and waits until its threads have ended and its files are closed. Messages that have arrived can still be
/// received.
#[unsafe(no_mangle)]
pub extern "C" fn undertone_stop(node: NodeHandle) -> UndertoneStatus {
    // SAFETY: there is no place for an answer.
    unsafe { respond(ptr::null_mut(), || nodes::get(node).map(|node| node.stop())) }
}

/// Stops the node and forgets it. Later calls on it are errors.
#[unsafe(no_mangle)]
pub extern "C" fn undertone_destroy(node: NodeHandle) -> UndertoneStatus {
    // SAFETY: there is no place for an answer.
    unsafe {
        respond(ptr::null_mut(), || {
            nodes::remove(node).map(|node| node.stop())
        })
    }
}

/// Answers identity, addresses and subscriptions of the node.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_info(
    node: NodeHandle,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || nodes::get(node)?.info()) }
}

/// Answers the node's health.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_health(
    node: NodeHandle,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || nodes::get(node)?.health()) }
}

/// Answers a list of all peers that the node knows.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_peers(
    node: NodeHandle,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || nodes::get(node)?.peers()) }
}

/// Connects to a peer by its address, such as "/ip4/192.0.2.1/tcp/60000/p2p/16Uiu…", and waits until the attempt has ended.
///
/// # Safety
/// `address` is NULL or a text, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_connect(
    node: NodeHandle,
    address: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let address = Text::new("address", address);
        respond(answer, || nodes::get(node)?.connect(address.required()?))
    }
}

/// Receives messages with these content topics, a list of texts, from now on; without any (NULL), all of the pubsub topic.
/// Without a pubsub topic (NULL), each content topic's shard is joined by automatic sharding.
///
/// # Safety
/// `content_topics` and `pubsub_topic` are NULL or texts, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_subscribe(
    node: NodeHandle,
    content_topics: *const c_char,
    pubsub_topic: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let content_topics = Text::new("content_topics", content_topics);
        let pubsub_topic = Text::new("pubsub_topic", pubsub_topic);
        respond(answer, || {
            nodes::get(node)?.subscribe(content_topics.json_or_empty()?, pubsub_topic.optional()?)
        })
    }
}

/// Receives no more messages of a subscription. Those that have arrived can still be received.
///
/// # Safety
/// `content_topics` and `pubsub_topic` are NULL or texts, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_unsubscribe(
    node: NodeHandle,
    content_topics: *const c_char,
    pubsub_topic: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let content_topics = Text::new("content_topics", content_topics);
        let pubsub_topic = Text::new("pubsub_topic", pubsub_topic);
        respond(answer, || {
            nodes::get(node)?.unsubscribe(content_topics.json_or_empty()?, pubsub_topic.optional()?)
        })
    }
}

/// Waits for a message of a subscription, `timeout_ms` at most, and answers it; nothing if there is none by then.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_receive(
    node: NodeHandle,
    timeout_ms: u64,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || nodes::get(node)?.receive(timeout_ms)) }
}

/// Publishes a message, {contentTopic, payload, …}, and waits until it was sent to a peer; answers its hash.
///
/// # Safety
/// `message` is NULL or a text, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_publish(
    node: NodeHandle,
    message: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let message = Text::new("message", message);
        respond(answer, || nodes::get(node)?.publish(message.json()?))
    }
}

/// Accepts a message that the node answers for, over restarts, and answers its number.
///
/// # Safety
/// `message` is NULL or a text, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_send(
    node: NodeHandle,
    message: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let message = Text::new("message", message);
        respond(answer, || nodes::get(node)?.send(message.json()?))
    }
}

/// Waits for the next step of any message that was given to undertone_send, `timeout_ms` at most, and answers it; nothing if there
/// is none by then.
///
/// # Safety
/// `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_receive_report(
    node: NodeHandle,
    timeout_ms: u64,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe { respond(answer, || nodes::get(node)?.receive_report(timeout_ms)) }
}

/// Answers a list of the steps that the node keeps, the oldest first: of the message with number *id, or of all (NULL). With
/// `forget`, they are kept no longer.
///
/// # Safety
/// `id` is NULL or can be read, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_send_reports(
    node: NodeHandle,
    id: *const u64,
    forget: bool,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let id = id.as_ref().copied();
        respond(answer, || nodes::get(node)?.send_reports(id, forget))
    }
}

/// Answers a page of history from a store, or from this node's archive if it has one and no store is named:
/// {messages, next}. `query` is an object, all of whose fields may be left out; NULL stands for an empty one.
///
/// # Safety
/// `query` is NULL or a text, `answer` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_query_store(
    node: NodeHandle,
    query: *const c_char,
    answer: *mut *mut c_char,
) -> UndertoneStatus {
    // SAFETY: as this call demands.
    unsafe {
        let query = Text::new("query", query);
        respond(answer, || {
            nodes::get(node)?.query_store(query.json_or_empty()?)
        })
    }
}
