//! Archives in PostgreSQL: a table partitioned by time.
//!
//! A task writes on its own connection; queries share a pool. Several processes may have the same archive open.

mod error;
mod query;
mod reader;
mod retention;
mod schema;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio::sync::mpsc;
use tokio_postgres::NoTls;

use crate::health::HealthLog;
use crate::write::WriterCommand;
use crate::{ArchiveError, ArchiveOptions};

pub(crate) use reader::PostgresReader;

/// Maximum wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of our connections. The queries are designed for their indexes, whatever the statistics of a partition that
/// is minutes old suggest, and JIT compilation takes longer than running them.
const SESSION: &str = "-c jit=off -c enable_seqscan=off -c enable_bitmapscan=off \
    -c plan_cache_mode=force_generic_plan -c statement_timeout=10s -c lock_timeout=5s \
    -c synchronous_commit=on -c client_min_messages=warning";

/// Opens the archive at a server: creates its tables if they are missing, starts its writer, and returns its reader.
pub(crate) async fn open(
    config: &tokio_postgres::Config,
    place: &Arc<str>,
    options: ArchiveOptions,
    work: mpsc::Receiver<WriterCommand>,
    health: Arc<HealthLog>,
) -> Result<Arc<PostgresReader>, ArchiveError> {
    let config = configured(config);
    let readers = pool(&config, options.readers.max(1), place)?;
    let writers = pool(&config, 1, place)?;
    let mut writer = writer::PostgresWriter::new(writers, Arc::clone(place), &options);
    writer.start().await?;
    tokio::spawn(writer::run(writer, work, health));
    Ok(Arc::new(PostgresReader::new(readers, Arc::clone(place))))
}

/// Opens the archive at a server for reading only.
pub(crate) async fn open_to_read(
    config: &tokio_postgres::Config,
    place: &Arc<str>,
    readers: usize,
) -> Result<Arc<PostgresReader>, ArchiveError> {
    let readers = pool(&configured(config), readers.max(1), place)?;
    let reader = PostgresReader::new(readers, Arc::clone(place));
    reader.check().await?;
    Ok(Arc::new(reader))
}

/// Adds our connections' settings to a server address.
fn configured(config: &tokio_postgres::Config) -> tokio_postgres::Config {
    let mut config = config.clone();
    let session = match config.get_options() {
        Some(given) => format!("{SESSION} {given}"),
        None => SESSION.to_owned(),
    };
    config.options(session);
    config.application_name("undertone-archive");
    config.connect_timeout(CONNECT_TIMEOUT);
    config.tcp_user_timeout(Duration::from_secs(20));
    config
}

/// Creates a pool of connections, which connects on first use.
fn pool(
    config: &tokio_postgres::Config,
    size: usize,
    place: &Arc<str>,
) -> Result<Pool, ArchiveError> {
    let settings = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = Manager::from_config(config.clone(), NoTls, settings);
    let timeouts = Timeouts {
        wait: Some(Duration::from_secs(30)),
        create: Some(CONNECT_TIMEOUT),
        recycle: Some(CONNECT_TIMEOUT),
    };
    let pool = Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .build();
    pool.map_err(|_| ArchiveError::Closed {
        place: Arc::clone(place),
    })
}
