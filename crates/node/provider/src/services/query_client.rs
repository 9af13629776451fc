//! Pages of history from other stores, each checked before it is believed.

use std::time::Duration;

use libp2p::Multiaddr;
use tokio::time::timeout;
use undertone_services::history::{HistoryEntry, HistoryPage, HistoryQuery};
use undertone_services::store::{self, HistoryReader, PageComparison, ReaderLimits, StoreLimits};
use undertone_services::trust::Standing;

use super::client::{PeerClient, ServiceProtocol};
use super::service_peers::Candidate;
use super::{ServiceFailure, StoreAnswer};

/// Stores that are asked at most to compare a page.
const SECONDS_MAX: usize = 2;

/// Time for the page of a store that is not named while there are others, and for what a second store has of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Service of a store.
pub(super) fn service() -> ServiceProtocol {
    ServiceProtocol {
        name: "store",
        protocol: store::PROTOCOL_ID,
        answer_bytes_max: StoreLimits::default().max_response_bytes,
    }
}

/// Asks stores in turn for a page until one gives a true one, which leads; unless it is named, a second store that is
/// unrelated adds what it lacks.
///
/// # Errors
/// The failure of the last store.
pub(super) async fn query(
    client: &PeerClient,
    mut stores: Vec<Candidate>,
    query: &HistoryQuery,
    request_id: &str,
) -> Result<StoreAnswer, ServiceFailure> {
    let mut failure = ServiceFailure::NoPeer {
        service: service().name,
    };
    // With the messages, hashes can be checked and pages put together.
    let with_data = HistoryQuery {
        include_data: true,
        ..query.clone()
    };
    // Those that do not have the cursor's message, or were slow, may do as the second.
    let mut passed_over = Vec::new();
    while !stores.is_empty() {
        let leader = stores.remove(0);
        let is_named = leader.witness.standing == Standing::Named;
        let asked = if is_named { query } else { &with_data };
        let patience = match is_named || stores.is_empty() {
            true => Duration::MAX,
            false => PATIENCE,
        };
        let asking = query_one(client, &leader.address, asked, request_id);
        match timeout(patience, asking).await {
            Ok(Ok(answer)) if is_named => {
                client.note_word(service(), &[leader.witness]);
                return Ok(answer);
            }
            Ok(Ok(answer)) => {
                stores.append(&mut passed_over);
                let comparison = PageComparison::new(query.clone(), answer.page);
                let page = with_second(client, &leader, &stores, comparison).await;
                let request_id = answer.request_id;
                return Ok(StoreAnswer { request_id, page });
            }
            Ok(Err(error)) => {
                if let ServiceFailure::Refused { .. } = error {
                    passed_over.push(leader);
                }
                failure = error;
            }
            Err(_) => passed_over.push(leader),
        }
    }
    Err(failure)
}

/// Adds to a page what the first store that is unrelated to the leader and answers has of the same span.
async fn with_second(
    client: &PeerClient,
    leader: &Candidate,
    stores: &[Candidate],
    comparison: PageComparison,
) -> HistoryPage {
    let is_unrelated = |store: &&Candidate| store.witness.is_unrelated(&leader.witness);
    for store in stores.iter().filter(is_unrelated).take(SECONDS_MAX) {
        let listing = timeout(PATIENCE, second(client, store, &comparison)).await;
        match listing {
            Ok(Ok((listed, found))) => {
                let agreeing = [leader.witness, store.witness];
                client.note_word(service(), &agreeing);
                if comparison.agrees(&listed) {
                    client.agreed(&agreeing.map(|witness| witness.peer));
                }
                return comparison.union(&listed, found);
            }
            Ok(Err(error)) => tracing::debug!(%error, "a second store gives no page"),
            Err(_) => tracing::debug!(store = %store.address, "a second store does not answer"),
        }
    }
    client.note_word(service(), &[leader.witness]);
    comparison.union(&HistoryPage::default(), Vec::new())
}

/// Asks a second store for what it has of a span, and for what the leader lacks of that.
async fn second(
    client: &PeerClient,
    store: &Candidate,
    comparison: &PageComparison,
) -> Result<(HistoryPage, Vec<HistoryEntry>), ServiceFailure> {
    const REQUEST_ID: &str = "undertone-second";
    let ask = |query| async move { query_one(client, &store.address, &query, REQUEST_ID).await };
    let listed = match (
        ask(comparison.listing()).await,
        comparison.listing_by_time(),
    ) {
        (Err(ServiceFailure::Refused { .. }), Some(listing)) => ask(listing).await,
        (listed, _) => listed,
    };
    let listed = listed?.page;
    let found = match comparison.missing(&listed) {
        Some(missing) => ask(missing).await?.page.entries,
        None => Vec::new(),
    };
    Ok((listed, found))
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
    let page = page.map_err(|error| ServiceFailure::of_page(peer, error))?;
    Ok(StoreAnswer {
        request_id: request_id.to_owned(),
        page: HistoryPage {
            entries: page.entries,
            next: reader.cursor().filter(|_| !page.ended),
        },
    })
}
