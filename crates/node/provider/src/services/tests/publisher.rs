use super::*;

#[test]
fn a_relay_that_is_busy_says_so_and_not_that_the_message_is_invalid() {
    let busy = PublishFailure::Busy { waiting: 64 };
    assert_eq!(refusal(busy), PublishRefusal::Busy);
}

#[test]
fn only_a_proof_that_nobody_honest_has_is_forged() {
    let refused = |is_forged| {
        let reason = String::new();
        refusal(PublishFailure::InvalidProof { reason, is_forged })
    };
    assert_eq!(refused(true), PublishRefusal::ForgedProof);
    assert_eq!(refused(false), PublishRefusal::InvalidProof);
}
