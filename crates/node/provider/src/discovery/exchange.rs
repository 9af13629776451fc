//! Node records from peers, by peer exchange.

use std::time::Duration;

use bytes::Bytes;
use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_discovery::record::WakuRecord;

use crate::services::{ExchangeClient, ServiceFailure};

#[cfg(test)]
#[path = "tests/exchange.rs"]
mod tests;

/// Minimum time between two requests for records.
pub(super) const EXCHANGE_PAUSE: Duration = Duration::from_secs(10);

/// Number of records per request.
const EXCHANGE_NODES: u64 = 30;

/// Reads the records in a peer's answer. Skips records of other clusters, and invalid ones with a warning that names
/// the peer.
pub(super) fn read_records(teller: PeerId, enrs: &[Bytes], cluster: u16) -> Vec<WakuRecord> {
    let (mut invalid, mut foreign) = (0, 0);
    let mut records = Vec::new();
    for enr in enrs {
        match WakuRecord::from_rlp(enr) {
            Ok(record) if record.facts().cluster == Some(cluster) => records.push(record),
            Ok(_) => foreign += 1,
            Err(error) => {
                invalid += 1;
                tracing::debug!(peer = %teller, %error, "a record from peer exchange is not valid");
            }
        }
    }
    if invalid > 0 {
        tracing::warn!(
            peer = %teller,
            invalid,
            records = enrs.len(),
            "a peer answered peer exchange with records whose signature or form is wrong: they were passed over"
        );
    }
    if foreign > 0 {
        tracing::debug!(peer = %teller, foreign, "records from peer exchange are of other clusters");
    }
    records
}

/// Requests records from one peer, and passes on its answer.
pub(super) async fn ask(exchange: ExchangeClient, exchanged: mpsc::Sender<(PeerId, Vec<Bytes>)>) {
    match exchange.ask(EXCHANGE_NODES).await {
        Ok(answer) => {
            // If an answer is waiting already, this one may be dropped.
            let _ = exchanged.try_send(answer);
        }
        Err(error @ ServiceFailure::BadAnswer { .. }) => {
            tracing::warn!(%error, "a peer answered peer exchange with something else than records");
        }
        Err(error) => tracing::debug!(%error, "no records of nodes from peer exchange"),
    }
}
