//! Pages of history from other stores, each checked before use.

use std::time::Duration;

use libp2p::Multiaddr;
use tokio::time::timeout;
use undertone_services::history::{HistoryEntry, HistoryPage, HistoryQuery};
use undertone_services::store::{self, HistoryReader, PageComparison, ReaderLimits, StoreLimits};
use undertone_services::trust::Standing;

use super::client::{PeerClient, ServiceProtocol};
use super::service_peers::Candidate;
use super::{ServiceFailure, StoreAnswer};

/// Maximum number of stores that are asked for comparison with a page.
const SECONDS_MAX: usize = 2;

/// Time limit for the page of an unnamed store while there are others, and for a second store's answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the service of a store.
pub(super) fn service() -> ServiceProtocol {
    ServiceProtocol {
        name: "store",
        protocol: store::PROTOCOL_ID,
        answer_bytes_max: StoreLimits::default().max_response_bytes,
    }
}

/// Asks stores in turn for a page until one returns a valid page; that store leads. Unless the leader is named, an
/// unrelated second store adds the messages that the page lacks.
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
    // With full messages, hashes can be checked and pages merged.
    let with_data = HistoryQuery {
        include_data: true,
        ..query.clone()
    };
    // Stores that do not have the cursor's message, or were slow, may serve as the second one.
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

/// Adds to the leader's page the messages that another store has for the same span. That store is the first one that
/// answers and is unrelated to the leader.
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

/// Asks a second store what it has in a span, and for the messages that the leader lacks.
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
