//! Publishing over REST, each message at its time.

use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use undertone_sim::outcome::Message;
use undertone_sim::{Plan, Scenario};
use undertone_testbed::Testbed;

use super::{RunError, log, rest};

/// How long before its time a message's request is prepared and connected.
const PREPARE: Duration = Duration::from_millis(50);

/// Scenario time that lies behind when all nodes are connected, nanoseconds.
pub(crate) fn lead_ns(scenario: &Scenario) -> u64 {
    scenario.start_ns.saturating_add(scenario.start_spread_ns)
}

/// Publishes everything and waits until every node has answered. `ready` is the moment at which all
/// nodes were connected.
pub(crate) fn publish(
    scenario: &Scenario,
    plan: &Plan,
    testbed: &Testbed,
    ready: Instant,
    mut published: impl FnMut(u32),
) -> Result<(), RunError> {
    let lead_ns = lead_ns(scenario);
    thread::scope(|scope| {
        let mut under_way = Vec::new();
        for message in plan.messages() {
            let after_ns = message.published_ns.saturating_sub(lead_ns);
            let at = ready + Duration::from_nanos(after_ns);
            sleep_until(at.checked_sub(PREPARE).unwrap_or(ready));
            let path = path(scenario, message);
            let request = rest::post(&path, &body(message));
            let (index, node) = (message.index, message.publisher);
            let failed = move |error| RunError::Rest { node, path, error };
            let stream = match rest::connect(&testbed.hosts()[node as usize])? {
                Ok(stream) => stream,
                Err(error) => return Err(failed(error)),
            };
            sleep_until(at);
            under_way.push(scope.spawn(move || {
                let answer = rest::exchange(stream, &request).map_err(failed)?;
                match answer.status {
                    200 => Ok(()),
                    status => Err(RunError::Refused {
                        message: index,
                        node,
                        status,
                        said: answer.body,
                    }),
                }
            }));
            published(index);
        }
        under_way
            .into_iter()
            .try_for_each(|sending| sending.join().expect("sending does not panic"))
    })
}

pub(crate) fn sleep_until(at: Instant) {
    thread::sleep(at.saturating_duration_since(Instant::now()));
}

fn path(scenario: &Scenario, message: &Message) -> String {
    let shard = message.index % scenario.relay.topics.max(1);
    format!("/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F{shard}")
}

/// Without a timestamp, so that the node stamps it.
fn body(message: &Message) -> String {
    let payload = STANDARD.encode(payload(message.index, message.payload_bytes as usize));
    let topic = log::content_topic(message.index);
    format!(r#"{{"payload":"{payload}","contentTopic":"{topic}"}}"#)
}

/// Bytes that no compressor along the way could shorten, different for each message.
fn payload(message: u32, size_bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (u64::from(message) << 32) ^ size_bytes as u64;
    let mut bytes = Vec::with_capacity(size_bytes + 8);
    while bytes.len() < size_bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size_bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_have_their_size_and_differ() {
        for size in [0, 8, 2_001] {
            assert_eq!(payload(3, size).len(), size);
        }
        assert_ne!(payload(3, 2_000), payload(4, 2_000));
    }
}
