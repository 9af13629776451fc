//! Readers of an archive.

use std::sync::Arc;

use deadpool_postgres::{Object, Pool};
use tokio_postgres::error::SqlState;
use undertone_message::MessageHash;
use undertone_services::history::{HistoryPage, HistoryQuery};

use super::error::{PostgresReadError, of_pool, of_statement};
use super::{query, schema};
use crate::cursors::CursorMemory;
use crate::{ArchiveError, ArchiveSizes, ArchiveStats, ArchivedHeader, QueryError};

/// Reader of an archive, with a bounded number of concurrent queries.
pub(crate) struct PostgresReader {
    pool: Pool,
    place: Arc<str>,
    cursors: CursorMemory,
}

impl PostgresReader {
    pub(super) fn new(pool: Pool, place: Arc<str>) -> Self {
        let cursors = CursorMemory::default();
        Self {
            pool,
            place,
            cursors,
        }
    }

    /// Checks that the database contains an archive of the known format.
    pub(super) async fn check(&self) -> Result<(), ArchiveError> {
        let place = || Arc::clone(&self.place);
        let select = "SELECT format FROM archive_format";
        let found = self.client().await?.query_opt(select, &[]).await;
        let format: i64 = match found {
            Ok(Some(row)) => row
                .try_get(0)
                .map_err(|error| of_statement(&self.place, error))?,
            Ok(None) => return Err(ArchiveError::NoArchive { place: place() }),
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
                return Err(ArchiveError::NoArchive { place: place() });
            }
            Err(error) => return Err(of_statement(&self.place, error)),
        };
        match format == schema::FORMAT {
            true => Ok(()),
            false => Err(ArchiveError::Format {
                place: place(),
                found: format,
                known: schema::FORMAT,
            }),
        }
    }

    pub(crate) async fn query(&self, query: HistoryQuery) -> Result<HistoryPage, QueryError> {
        let client = self.client().await?;
        match query::page(&client, &self.cursors, &query).await {
            Ok(page) => Ok(page),
            Err(PostgresReadError::UnknownCursor) => Err(QueryError::UnknownCursor),
            Err(error) => Err(self.explain(error).into()),
        }
    }

    pub(crate) async fn contains(&self, hashes: &[MessageHash]) -> Result<Vec<bool>, ArchiveError> {
        let client = self.client().await?;
        let found = query::contains(&client, hashes).await;
        found.map_err(|error| self.explain(error))
    }

    pub(crate) async fn hashes(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<(i64, MessageHash)>, ArchiveError> {
        let client = self.client().await?;
        let found = query::hashes(&client, start_ns, end_ns, limit).await;
        found.map_err(|error| self.explain(error))
    }

    pub(crate) async fn headers(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<ArchivedHeader>, ArchiveError> {
        let client = self.client().await?;
        let found = query::headers(&client, start_ns, end_ns, limit).await;
        found.map_err(|error| self.explain(error))
    }

    pub(crate) async fn stats(&self) -> Result<ArchiveStats, ArchiveError> {
        let client = self.client().await?;
        let found = query::stats(&client).await;
        found.map_err(|error| self.explain(error.into()))
    }

    pub(crate) async fn sizes(&self) -> Result<ArchiveSizes, ArchiveError> {
        let client = self.client().await?;
        let found = query::sizes(&client).await;
        found.map_err(|error| self.explain(error.into()))
    }

    async fn client(&self) -> Result<Object, ArchiveError> {
        let client = self.pool.get().await;
        client.map_err(|error| of_pool(&self.place, error))
    }

    /// Translates an error of a read without a cursor, so that no cursor can be unknown.
    fn explain(&self, error: PostgresReadError) -> ArchiveError {
        match error {
            PostgresReadError::Statement(error) => of_statement(&self.place, error),
            PostgresReadError::Damaged | PostgresReadError::UnknownCursor => {
                ArchiveError::Damaged {
                    place: Arc::clone(&self.place),
                }
            }
        }
    }
}
