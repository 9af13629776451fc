use libp2p::PeerId;

use super::*;

fn refused(status: u32, description: &str) -> ServiceFailure {
    ServiceFailure::Refused {
        status,
        description: description.to_owned(),
    }
}

#[test]
fn statuses_of_lightpush_say_what_to_do_next() {
    let v3 = |status, text: &str| push_failure(&refused(status, text), LightpushVersion::V3);
    assert_eq!(v3(505, ""), PushFailure::NoPeers);
    assert_eq!(v3(429, ""), PushFailure::Busy { retry_after: None });
    assert_eq!(v3(420, "invalid RLN proof"), PushFailure::ProofRefused);
    assert_eq!(v3(420, "empty content topic"), PushFailure::Invalid);
    assert_eq!(v3(504, ""), PushFailure::ProofRefused);
    assert_eq!(v3(413, ""), PushFailure::TooLarge);
    assert_eq!(v3(421, ""), PushFailure::UnsupportedTopic);
    assert_eq!(v3(500, ""), PushFailure::Internal);
    let v2 = |text: &str| push_failure(&refused(503, text), LightpushVersion::V2);
    assert_eq!(v2("not published to any peer"), PushFailure::NoPeers);
    assert_eq!(v2("RLN validation failed"), PushFailure::ProofRefused);
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
    assert_eq!(push_failure(&unreached, v3), PushFailure::NoPeers);
    assert_eq!(push_failure(&silent, v3), PushFailure::NoAnswer);
    assert_eq!(history_failure(&silent), ServicePeerFailure::NoAnswer);
    let busy = ServicePeerFailure::Busy { retry_after: None };
    assert_eq!(history_failure(&refused(429, "")), busy);
}
