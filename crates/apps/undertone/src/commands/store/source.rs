//! Pages of history, from a peer's store or from an archive.

use std::time::Duration;

use undertone_archive::Archive;
use undertone_message::MessageHash;
use undertone_services::history::{HistoryEntry, HistoryQuery};
use undertone_services::store::{HistoryReader, ReaderLimits};

use super::client::StoreClient;
use super::options::Selection;
use crate::commands::Failure;

/// Reader of a store's messages, the oldest first.
pub(super) enum HistorySource {
    Peer {
        client: Box<StoreClient>,
        reader: Box<HistoryReader>,
    },
    Archive {
        archive: Archive,
        /// Query for the next page; `None` after the last one.
        query: Option<HistoryQuery>,
    },
}

/// Messages read at once.
pub(super) struct SourcePage {
    pub(super) entries: Vec<HistoryEntry>,
    /// Messages that the store has in an unreadable form.
    pub(super) unreadable: Vec<MessageHash>,
}

impl HistorySource {
    /// Opens the store that the flags name, to read at most `max_messages`.
    pub(super) async fn open(selection: &Selection, max_messages: usize) -> Result<Self, Failure> {
        let query = selection.query()?;
        let patience = Duration::from_secs(selection.patience_s);
        if let Some(peer) = &selection.origin.peer {
            let sources = selection.network.sources();
            let client = StoreClient::start(sources, peer.clone(), patience).await?;
            let mut limits = ReaderLimits::default();
            // One page more than requested, to detect that there are more messages.
            limits.max_messages = max_messages.saturating_add(query.limit as usize);
            limits.max_pages = limits.max_messages;
            return Ok(Self::Peer {
                client: Box::new(client),
                reader: Box::new(HistoryReader::new(query, limits)),
            });
        }
        let url = selection.origin.archive.as_ref();
        let url = url.ok_or_else(|| Failure::usage("name a store: --peer or --archive"))?;
        let archive = Archive::open_to_read(url, 1).await;
        Ok(Self::Archive {
            archive: archive.map_err(|error| Failure::new(error.to_string()))?,
            query: Some(query),
        })
    }

    /// Returns the next page; `None` after the last one.
    pub(super) async fn page(&mut self) -> Result<Option<SourcePage>, Failure> {
        match self {
            Self::Peer { client, reader } => {
                let page = client.page(reader).await?;
                Ok(page.map(|page| SourcePage {
                    entries: page.entries,
                    unreadable: page.unreadable,
                }))
            }
            Self::Archive { archive, query } => {
                let Some(asked) = query.take() else {
                    return Ok(None);
                };
                let page = archive.query(asked.clone()).await;
                let page = page.map_err(|error| Failure::new(error.to_string()))?;
                *query = page.next.map(|next| HistoryQuery {
                    cursor: Some(next),
                    ..asked
                });
                Ok(Some(SourcePage {
                    entries: page.entries,
                    unreadable: Vec::new(),
                }))
            }
        }
    }

    /// Closes the store.
    pub(super) async fn close(self) {
        if let Self::Peer { client, .. } = self {
            client.stop().await;
        }
    }
}
