use undertone_node::services::ServiceFailure;

use super::is_final;

#[test]
fn what_a_peer_refuses_for_good_is_not_sent_again() {
    let refused = |status| ServiceFailure::Refused {
        status,
        description: String::new(),
    };
    for status in [400, 413, 420, 421, 504] {
        assert!(is_final(&refused(status)), "{status}");
    }
    for status in [429, 500, 503, 505] {
        assert!(!is_final(&refused(status)), "{status}");
    }
    let service = "lightpush";
    assert!(!is_final(&ServiceFailure::NoPeer { service }));
}
