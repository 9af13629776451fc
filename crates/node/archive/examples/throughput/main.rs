//! Measures archives in SQLite and PostgreSQL: insertions while pages are read, a million messages paged to the end in
//! both directions, months of retention in accelerated time.
//!
//! `cargo xtask campaign --only archive` runs all of it. SQLite uses a folder of its own in the folder for temporary
//! files (`TMPDIR` names another), PostgreSQL a server of its own, from Debian's packages; `--url` names another place,
//! which has to be new. A message that is lost or served twice is a failure, and so are, after months of retention, indexes
//! of more than 1.5 times the data and pages whose 95th percentile is over 50 ms; other times are printed and judged by nobody.

#![allow(
    clippy::unwrap_used,
    reason = "the server of the tests, which is shared"
)]

mod load;
mod months;
mod paging;
#[cfg(feature = "postgres")]
#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../tests/archive/postgres_server.rs"]
mod postgres_server;
mod report;
mod serving;

use std::time::Instant;

use clap::{Parser, ValueEnum};
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};

/// What is measured.
#[derive(Clone, Parser)]
struct Arguments {
    /// Databases that are measured, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["sqlite", "postgres"])]
    on: Vec<Database>,
    /// Place of a new archive, instead of temporary ones.
    #[arg(long)]
    url: Option<String>,
    /// Messages that the archive is filled with; pages are read among them. 0 for none.
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Seconds of inserting while reading, at the rate and then as fast as possible.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Messages per second that are offered while reading.
    #[arg(long, default_value_t = 5_000)]
    rate: u64,
    /// Clients that read pages at the same time, without pause.
    #[arg(long, default_value_t = 1)]
    readers: u64,
    /// Content topics of a page's query; a store allows up to 100.
    #[arg(long, default_value_t = 1)]
    topics: usize,
    /// Whether all messages are paged to the end, in both directions.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    paging: bool,
    /// Days of retention in accelerated time; 0 for none.
    #[arg(long, default_value_t = 183)]
    days: u64,
    /// Messages of each of these days.
    #[arg(long, default_value_t = 20_000)]
    messages_per_day: u64,
    /// Retention time in days.
    #[arg(long, default_value_t = 30)]
    keep_days: u64,
    /// Size of the indexes in relation to the data that is a failure when it is exceeded after months.
    #[arg(long, default_value_t = 1.5)]
    index_share: f64,
    /// Milliseconds of the 95th percentile of a page that are a failure when they are exceeded after months.
    #[arg(long, default_value_t = 50.0)]
    page_p95_ms: f64,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 150)]
    payload: usize,
    /// Most messages of a batch.
    #[arg(long, default_value_t = 1024)]
    batch: usize,
    /// Number that random choices follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if let Some(url) = &arguments.url {
        return measure(&url.parse()?, &arguments).await;
    }
    for database in &arguments.on {
        match database {
            Database::Sqlite => {
                let directory = tempfile::tempdir()?;
                let url = ArchiveUrl::sqlite(directory.path().join("archive"));
                measure(&url, &arguments).await?;
            }
            #[cfg(feature = "postgres")]
            Database::Postgres => {
                let server = postgres_server::PostgresServer::start(true);
                let server = server.ok_or("PostgreSQL is not installed")?;
                let url = server.create_database("measured").parse()?;
                measure(&url, &arguments).await?;
            }
            #[cfg(not(feature = "postgres"))]
            Database::Postgres => return Err("built without the feature `postgres`".into()),
        }
    }
    Ok(())
}

async fn measure(url: &ArchiveUrl, arguments: &Arguments) -> Result<(), Failure> {
    let retention = format!("time:{}d", arguments.keep_days).parse()?;
    let options = ArchiveOptions::default().with_retention(retention);
    let archive = Archive::open(url, options).await?;
    println!(
        "{}: {} bytes of payload, {} of proof",
        archive.place(),
        arguments.payload,
        load::PROOF_BYTES
    );
    if arguments.messages > 0 {
        let began = Instant::now();
        load::fill(&archive, arguments, load::START_NS, arguments.messages).await?;
        let took_s = began.elapsed().as_secs_f64();
        println!(
            "filled with {} messages in {took_s:.0} s, {:.0} per second",
            arguments.messages,
            arguments.messages as f64 / took_s
        );
        report::print_sizes(&archive).await?;
        if arguments.paging {
            paging::to_the_end(&archive, arguments.messages).await?;
        }
        serving::measure(&archive, arguments).await?;
    }
    if arguments.days > 0 {
        months::measure(&archive, arguments).await?;
    }
    Ok(())
}
