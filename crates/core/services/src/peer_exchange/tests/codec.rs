use proptest::prelude::*;
use undertone_message::WireError;

use super::*;
use crate::rpc::tests::golden;

fn limits() -> PeerExchangeCodecLimits {
    PeerExchangeCodecLimits::default()
}

fn response(enrs: &[&[u8]]) -> PeerExchangeResponse {
    PeerExchangeResponse {
        enrs: enrs.iter().map(|enr| Bytes::copy_from_slice(enr)).collect(),
        status: PeerExchangeStatus::OK,
        status_desc: None,
        skipped: 0,
    }
}

#[test]
fn requests_of_js_waku_are_read_and_written_as_js_waku_does() {
    let expected = PeerExchangeRequest { num_peers: Some(7) };
    let frame = golden("peer-exchange-request");
    assert_eq!(PeerExchangeRequest::decode(&frame, &limits()), Ok(expected));
    assert_eq!(expected.encode(), frame);
}

#[test]
fn a_request_need_not_say_how_many() {
    let request = PeerExchangeRequest::default();
    assert_eq!(hex::encode(request.encode()), "0a00");
    assert_eq!(
        PeerExchangeRequest::decode(&[0x0a, 0], &limits()),
        Ok(request)
    );
}

#[test]
fn a_request_of_nwaku_with_an_empty_response_is_read() {
    let frame = hex::decode("0a0208051202 5000".replace(' ', "")).unwrap();
    assert_eq!(
        PeerExchangeRequest::decode(&frame, &limits()),
        Ok(PeerExchangeRequest { num_peers: Some(5) })
    );
}

#[test]
fn a_response_of_js_waku_without_status_is_a_success_with_one_record() {
    let decoded = PeerExchangeResponse::decode(&golden("peer-exchange-response"), &limits());
    let expected = PeerExchangeResponse {
        skipped: 1,
        ..response(&[&[1, 2, 3]])
    };
    assert_eq!(decoded, Ok(expected));
}

#[test]
fn a_response_has_a_query_and_a_status_for_nwaku() {
    assert_eq!(
        hex::encode(response(&[&[1, 2, 3]]).encode()),
        "0a020800120a0a050a0301020350c801"
    );
    assert_eq!(hex::encode(response(&[]).encode()), "0a020800120350c801");
}

#[test]
fn an_empty_response_without_status_means_unavailable() {
    let decoded = PeerExchangeResponse::decode(&[0x12, 0], &limits()).unwrap();
    assert_eq!(decoded.status, PeerExchangeStatus::SERVICE_UNAVAILABLE);
}

#[test]
fn records_too_long_or_too_many_are_skipped_and_the_rest_is_kept() {
    let (fits, long) = ([7; 300], [7; 301]);
    let decode = |enrs: &[&[u8]]| {
        let frame = response(enrs).encode();
        PeerExchangeResponse::decode(&frame, &limits()).unwrap()
    };
    let decoded = decode(&[&fits, &long, &[1]]);
    assert_eq!((decoded.enrs.len(), decoded.skipped), (2, 1));
    let decoded = decode(&[&[1][..]; 70]);
    assert_eq!((decoded.enrs.len(), decoded.skipped), (60, 10));
}

#[test]
fn malformed_frames_are_refused_with_the_fault() {
    assert_eq!(
        PeerExchangeRequest::decode(&[], &limits()),
        Err(RpcFrameError::Missing { field: "query" })
    );
    assert_eq!(
        PeerExchangeResponse::decode(&[0x0a, 0], &limits()),
        Err(RpcFrameError::Missing { field: "response" })
    );
    assert_eq!(
        PeerExchangeResponse::decode(&[0x12, 3, 0x0a, 9, 1], &limits()),
        Err(RpcFrameError::Wire(WireError::Truncated { offset: 2 }))
    );
    assert!(matches!(
        PeerExchangeRequest::decode(&[0; 1025], &limits()),
        Err(RpcFrameError::TooLarge { .. })
    ));
}

proptest! {
    #[test]
    fn any_response_survives_the_wire(
        enrs in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..=300), 0..=60),
        status in 1_u32..,
        desc in proptest::option::of(".{0,40}"),
    ) {
        let response = PeerExchangeResponse {
            enrs: enrs.into_iter().map(Bytes::from).collect(),
            status: PeerExchangeStatus(status),
            status_desc: desc,
            skipped: 0,
        };
        prop_assert_eq!(PeerExchangeResponse::decode(&response.encode(), &limits()), Ok(response));
    }

    #[test]
    fn garbage_never_panics(frame: Vec<u8>) {
        let _ = PeerExchangeRequest::decode(&frame, &limits());
        let _ = PeerExchangeResponse::decode(&frame, &limits());
    }
}
