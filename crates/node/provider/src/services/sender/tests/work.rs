use libp2p::PeerId;

use super::*;

fn refused(status: u32, description: &str) -> ServiceFailure {
    ServiceFailure::Refused {
        status,
        description: description.to_owned(),
    }
}

#[test]
fn a_refusal_is_read_by_the_version_of_its_protocol() {
    let read = |version| not_pushed(&refused(503, "RLN validation failed"), version);
    let busy = PushFailure::Busy { retry_after: None };
    assert_eq!(read(LightpushVersion::V3), Err(busy));
    assert_eq!(read(LightpushVersion::V2), Err(PushFailure::ProofRefused));
}

#[test]
fn only_a_request_that_was_sent_may_have_been_carried_out() {
    let peer = PeerId::random();
    let unreached = ServiceFailure::Dial {
        peer,
        reason: String::new(),
    };
    let silent = ServiceFailure::TimedOut {
        peer,
        timeout_s: 15,
    };
    let v3 = LightpushVersion::V3;
    assert_eq!(not_pushed(&unreached, v3), Err(PushFailure::NoPeers));
    assert_eq!(not_pushed(&silent, v3), Err(PushFailure::NoAnswer));
    assert_eq!(history_failure(&silent), ServicePeerFailure::NoAnswer);
    let busy = ServicePeerFailure::Busy { retry_after: None };
    assert_eq!(history_failure(&refused(429, "")), busy);
}
