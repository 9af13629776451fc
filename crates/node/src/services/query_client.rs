//! Pages of history from other stores, each checked before it is believed.

use libp2p::Multiaddr;
use undertone_services::history::{HistoryPage, HistoryQuery};
use undertone_services::store::{self, HistoryReadError, HistoryReader, ReaderLimits, StoreLimits};

use super::client::{AskedService, PeerClient};
use super::{ServiceFailure, StoreAnswer};

/// Service of a store.
pub(super) fn service() -> AskedService {
    AskedService {
        name: "store",
        protocol: store::PROTOCOL_ID,
        answer_bytes_max: StoreLimits::default().max_response_bytes,
    }
}

/// Asks the stores of `addresses` in turn for a page, until one gives a true one.
///
/// # Errors
/// The failure of the last store.
pub(super) async fn query(
    client: &PeerClient,
    addresses: &[Multiaddr],
    query: &HistoryQuery,
    request_id: &str,
) -> Result<StoreAnswer, ServiceFailure> {
    let mut failure = ServiceFailure::NoPeer {
        service: service().name,
    };
    for address in addresses {
        match query_one(client, address, query, request_id).await {
            Ok(answer) => return Ok(answer),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

pub(super) async fn query_one(
    client: &PeerClient,
    address: &Multiaddr,
    query: &HistoryQuery,
    request_id: &str,
) -> Result<StoreAnswer, ServiceFailure> {
    let mut reader = HistoryReader::new(query.clone(), ReaderLimits::default());
    let request = reader.request(request_id);
    let request = request.expect("a reader that has read nothing asks for its first page");
    let (peer, answer) = client.ask(address, service(), &request.encode()).await?;
    let page = reader.take(request_id, &answer);
    let page = page.map_err(|error| match error {
        HistoryReadError::Refused {
            status,
            description,
        } => ServiceFailure::Refused {
            status: status.code(),
            description: description.to_string(),
        },
        HistoryReadError::Busy { status } => ServiceFailure::Refused {
            status: status.code(),
            description: String::new(),
        },
        error => ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        },
    })?;
    Ok(StoreAnswer {
        request_id: request_id.to_owned(),
        page: HistoryPage {
            entries: page.entries,
            next: reader.cursor().filter(|_| !page.ended),
        },
    })
}
