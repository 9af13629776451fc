//! Peer exchange. js-waku knows no status of a response, and ignores that of others.

use bytes::Bytes;
use serde_json::json;
use undertone_services::peer_exchange::{
    PeerExchangeCodecLimits, PeerExchangeRequest, PeerExchangeResponse,
};

use super::{Read, given};

pub(super) fn request(frame: &Bytes) -> Result<Read, String> {
    let request = PeerExchangeRequest::decode(frame, &PeerExchangeCodecLimits::default());
    let request = request.map_err(|error| error.to_string())?;
    let num_peers = request.num_peers.map(|count| count.to_string());
    Ok(Read {
        fields: given([("query", given([("numPeers", json!(num_peers))]))]),
        again: request.encode(),
    })
}

pub(super) fn response(frame: &Bytes) -> Result<Read, String> {
    let response = PeerExchangeResponse::decode(frame, &PeerExchangeCodecLimits::default());
    let response = response.map_err(|error| error.to_string())?;
    let records = response
        .enrs
        .iter()
        .map(|enr| json!({"enr": hex::encode(enr)}));
    let inner = json!({"peerInfos": records.collect::<Vec<_>>()});
    Ok(Read {
        fields: json!({"response": inner}),
        again: response.encode(),
    })
}
