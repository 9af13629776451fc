use super::*;

#[test]
fn refusals_of_version_3_are_told_by_status() {
    let busy = PushFailure::Busy { retry_after: None };
    let cases = [
        (400, "bad request", PushFailure::Invalid),
        (413, "", PushFailure::TooLarge),
        (420, "no timestamp", PushFailure::Invalid),
        (420, "invalid RLN proof", PushFailure::ProofRefused),
        (421, "", PushFailure::UnsupportedTopic),
        (429, "", busy),
        (500, "", PushFailure::Internal),
        (503, "", busy),
        (504, "", PushFailure::ProofRefused),
        (505, "", PushFailure::NoPeers),
        (999, "", PushFailure::Internal),
    ];
    for (status, text, failure) in cases {
        let outcome = refused_push(PushVersion::V3, LightpushStatus(status), text);
        assert_eq!(outcome, Err(failure), "{status} {text}");
    }
}

#[test]
fn refusals_of_version_2_are_told_by_their_text() {
    let refused = |text| refused_push(PushVersion::V2, LightpushStatus(0), text);
    assert_eq!(
        refused("not_published_to_any_peer"),
        Err(PushFailure::NoPeers)
    );
    assert_eq!(
        refused("RLN validation failed"),
        Err(PushFailure::ProofRefused)
    );
}

/// A first answer that was lost must not make a message fail at the next peer.
#[test]
fn a_message_that_the_relay_has_already_is_published() {
    let text = PublishRefusal::Duplicate.to_string();
    for version in [PushVersion::V2, PushVersion::V3] {
        let outcome = refused_push(version, LightpushStatus::INVALID_MESSAGE, &text);
        assert_eq!(outcome, Ok(None), "{version:?}");
    }
    let other = refused_push(PushVersion::V3, LightpushStatus::PAYLOAD_TOO_LARGE, &text);
    assert_eq!(other, Err(PushFailure::TooLarge));
}

#[test]
fn a_busy_server_is_asked_again_in_both_versions() {
    let text = PublishRefusal::Busy.to_string();
    let busy = LightpushStatus::SERVICE_NOT_AVAILABLE;
    assert_eq!(
        refused_push(PushVersion::V3, busy, &text),
        Err(PushFailure::Busy { retry_after: None })
    );
    assert_eq!(
        refused_push(PushVersion::V2, LightpushStatus(0), &text),
        Err(PushFailure::NoPeers),
        "not a refusal of the proof"
    );
}
