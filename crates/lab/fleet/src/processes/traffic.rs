//! Publishing of messages over REST, each at its time.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use undertone_sim::outcome::Message;
use undertone_sim::{Plan, Scenario};
use undertone_testbed::Testbed;

use super::error::RunError;
use super::timeline::{Life, lead_ns};
use super::{log, rest};
use crate::payload::incompressible;

/// How long before its time a message's request is prepared.
const PREPARE: Duration = Duration::from_millis(50);

/// Text in a node's refusal once its limit in an epoch is used up, the same as nwaku's.
const LIMIT_REACHED: &str = "NonceLimitReached";

/// Path at which spam is published.
pub(crate) const SPAM_PATH: &str = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";

/// Payload size of spam, bytes, as in the simulator.
const SPAM_BYTES: usize = 64;

/// Seed that makes spam payloads differ from those of messages, whose numbers are smaller.
const SPAM_SEED: u64 = 1 << 31;

/// Messages that did not leave their publishers, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnsentMessages {
    /// Numbers of the unsent messages.
    pub(crate) messages: BTreeSet<u32>,
    /// Answers of publishers that refused a message.
    pub(crate) refusals: Vec<String>,
}

/// Result of publishing one message.
enum SendOutcome {
    Sent,
    /// The publisher did not listen yet, or ended before it answered.
    Absent,
    Refused(String),
}

/// Publishes all messages and waits until every publisher has answered. `ready` is the moment at which all
/// nodes were connected. As in the simulator, messages of a node that does not run, or that has used up its
/// limit, are not published.
pub(crate) fn publish(
    scenario: &Scenario,
    plan: &Plan,
    testbed: &Testbed,
    ready: Instant,
    mut published: impl FnMut(u32),
) -> Result<UnsentMessages, RunError> {
    let lead_ns = lead_ns(scenario);
    let mut unsent = UnsentMessages::default();
    thread::scope(|scope| {
        let mut under_way = Vec::new();
        for message in plan.messages() {
            let life = Life::of(scenario, plan, message.publisher);
            let after_ns = message.published_ns.saturating_sub(lead_ns);
            let at = ready + Duration::from_nanos(after_ns);
            sleep_until(at.checked_sub(PREPARE).unwrap_or(ready));
            let (index, node) = (message.index, message.publisher);
            if !life.covers(message.published_ns.max(lead_ns)) {
                unsent.messages.insert(index);
                continue;
            }
            let (path, json) = (path(scenario, message), body(message));
            let host = &testbed.hosts()[node as usize];
            sleep_until(at);
            let sending = scope.spawn(move || match rest::ask_in(host, "POST", &path, &json)? {
                Ok(answer) if answer.status == 200 => Ok(SendOutcome::Sent),
                Ok(answer) if is_meant(scenario, &answer.body) => {
                    Ok(SendOutcome::Refused(answer.body))
                }
                Ok(answer) => Err(RunError::Refused {
                    message: index,
                    node,
                    status: answer.status,
                    said: answer.body,
                }),
                Err(_) if life.ends_ns.is_some() => Ok(SendOutcome::Absent),
                Err(error)
                    if life.joins_ns.is_some() && error.kind() == ErrorKind::ConnectionRefused =>
                {
                    Ok(SendOutcome::Absent)
                }
                Err(error) => Err(RunError::Rest { node, path, error }),
            });
            under_way.push((index, sending));
            published(index);
        }
        for (index, sending) in under_way {
            match sending.join().expect("sending does not panic")? {
                SendOutcome::Sent => continue,
                SendOutcome::Absent => {}
                SendOutcome::Refused(said) => {
                    unsent.refusals.push(format!("message {index}: {said}"));
                }
            }
            unsent.messages.insert(index);
        }
        Ok(unsent)
    })
}

/// Whether a node's refusal is expected: the scenario has faults, or the publisher has used up its limit.
fn is_meant(scenario: &Scenario, said: &str) -> bool {
    !scenario.faults.is_empty() || said.contains(LIMIT_REACHED)
}

pub(crate) fn sleep_until(at: Instant) {
    thread::sleep(at.saturating_duration_since(Instant::now()));
}

fn path(scenario: &Scenario, message: &Message) -> String {
    let listed = scenario.listed.get(message.index as usize);
    let by_number = message.index % scenario.relay.topics.max(1);
    let shard = listed.map_or(by_number, |listed| listed.topic);
    format!("/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F{shard}")
}

/// Returns the JSON of one spam message, which is not one of the scenario's messages.
pub(crate) fn spam(number: u64) -> String {
    let payload = STANDARD.encode(incompressible(SPAM_SEED ^ number, SPAM_BYTES));
    format!(r#"{{"payload":"{payload}","contentTopic":"/undertone/1/spam/proto"}}"#)
}

/// Returns a message's JSON, without a timestamp, so that the node adds one.
fn body(message: &Message) -> String {
    let size = message.payload_bytes as usize;
    let payload = STANDARD.encode(incompressible(message.index.into(), size));
    let topic = log::content_topic(message.index);
    format!(r#"{{"payload":"{payload}","contentTopic":"{topic}"}}"#)
}
