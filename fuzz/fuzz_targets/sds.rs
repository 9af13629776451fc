//! Two members of a reliable channel, whose messages are lost, repeated and delayed, and a stranger who sends anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, rng, until};
use undertone_gossip::Time;
use undertone_sds::{Channel, Id, Input, Output, SdsConfig};

/// Frames kept for later.
const FRAMES_MAX: usize = 64;

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut now = Time::ZERO;
    let mut members = ["ann", "bob"].map(|name| channel(now, name));
    let mut frames: Vec<Vec<u8>> = Vec::new();
    let mut sent = 0;
    while !reader.is_empty() {
        let kind = reader.byte();
        let member = &mut members[usize::from(kind >> 7)];
        let input = match kind % 8 {
            0 | 1 => {
                sent += 1;
                let (id, payload) = (Id::from(format!("{sent}")), reader.piece().to_vec());
                match kind % 8 {
                    0 => Input::Send { id, payload },
                    _ => Input::SendEphemeral { id, payload },
                }
            }
            2 => Input::Published {
                id: Id::from(format!("{}", reader.byte())),
                retrieval_hint: reader.piece().to_vec(),
            },
            3..=5 if !frames.is_empty() => {
                let frame = reader.byte();
                let bytes = frames[usize::from(frame) % frames.len()].clone();
                let retrieval_hint = None;
                match kind % 8 {
                    3 => Input::Retrieved {
                        bytes,
                        retrieval_hint,
                    },
                    _ => Input::Received {
                        bytes,
                        retrieval_hint,
                    },
                }
            }
            6 => Input::Received {
                bytes: reader.piece().to_vec(),
                retrieval_hint: Some(vec![1]),
            },
            _ => {
                let end = now.after(reader.time());
                let start = now;
                for member in &mut members {
                    now = start;
                    until(
                        member,
                        &mut now,
                        end,
                        Channel::next_timeout,
                        |member, now| {
                            member.handle(now, Input::Tick);
                            drain(member, &mut frames);
                        },
                    );
                }
                continue;
            }
        };
        member.handle(now, input);
        drain(member, &mut frames);
    }
});

fn channel(now: Time, name: &str) -> Channel {
    let mut config = SdsConfig::new("channel", name);
    config.limits.max_log = 8;
    config.limits.max_pending = 4;
    config.limits.max_pending_bytes = 2_000;
    config.limits.max_missing = 4;
    config.limits.max_outgoing = 4;
    config.limits.max_responses = 2;
    Channel::new(now, config, rng())
}

fn drain(member: &mut Channel, frames: &mut Vec<Vec<u8>>) {
    while let Some(output) = member.poll() {
        if let Output::Publish { bytes, .. } = output {
            frames.push(bytes.to_vec());
            if frames.len() > FRAMES_MAX {
                frames.remove(0);
            }
        }
    }
    assert!(member.log().count() <= 8);
}
