//! Peers remembered between runs, in a small SQLite database that is written by a separate thread.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libp2p::{Multiaddr, PeerId};
use rusqlite::{Connection, params};
use undertone_peers::{Capabilities, PeerFacts, PeerOffer, PeerSource};

use undertone_network::driver::{PeerChange, PeerMemory};

#[cfg(test)]
#[path = "tests/memory.rs"]
mod tests;

/// Maximum number of peers offered at a start.
const OFFERED_MAX: u32 = 200;

/// Maximum number of peers kept in the database.
const KEPT_MAX: u32 = 2_000;

/// Time after which a peer that was not seen again is forgotten.
const KEPT_FOR: Duration = Duration::from_secs(30 * 86_400);

/// Maximum number of changes waiting for the thread; more are dropped, because the peer will be seen again.
const CHANGES_MAX: usize = 1_024;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS peer (
        id BLOB PRIMARY KEY,
        addresses TEXT NOT NULL,
        cluster INTEGER,
        shards TEXT,
        capabilities INTEGER,
        was_reached INTEGER NOT NULL,
        seen_s INTEGER NOT NULL
    ) WITHOUT ROWID;
    PRAGMA user_version = 1;
";

/// Opens the database, and returns its peers, those reached before first. An unusable database is logged: the node then
/// starts from its bootstrap nodes and remembers no peers.
pub(super) fn open(path: &Path) -> (PeerMemory, Vec<PeerOffer>) {
    let opened = Connection::open(path).and_then(|database| {
        database.execute_batch(SCHEMA)?;
        let offers = load(&database, now_s())?;
        Ok((database, offers))
    });
    match opened {
        Ok((database, offers)) => {
            let (changes, changed) = sync_channel(CHANGES_MAX);
            let writer = std::thread::Builder::new().name("peers".into());
            let started = writer.spawn(move || write(&database, &changed));
            (PeerMemory::new(started.is_ok().then_some(changes)), offers)
        }
        Err(error) => {
            let path = path.display();
            tracing::warn!(%path, %error, "peers are not remembered: the database cannot be used; move it away to start a new one");
            (PeerMemory::new(None), Vec::new())
        }
    }
}

fn now_s() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since_1970.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

fn load(database: &Connection, now_s: i64) -> rusqlite::Result<Vec<PeerOffer>> {
    let oldest_s = now_s - i64::try_from(KEPT_FOR.as_secs()).unwrap_or(i64::MAX);
    database.execute("DELETE FROM peer WHERE seen_s < ?1", [oldest_s])?;
    database.execute(
        "DELETE FROM peer WHERE id NOT IN
            (SELECT id FROM peer ORDER BY was_reached DESC, seen_s DESC LIMIT ?1)",
        [KEPT_MAX],
    )?;
    let mut query = database.prepare(
        "SELECT id, addresses, cluster, shards, capabilities, was_reached FROM peer
            ORDER BY was_reached DESC, seen_s DESC LIMIT ?1",
    )?;
    let rows = query.query_map([OFFERED_MAX], |row| {
        let id: Vec<u8> = row.get(0)?;
        let addresses: String = row.get(1)?;
        let shards: Option<String> = row.get(3)?;
        let capabilities: Option<u8> = row.get(4)?;
        let was_reached: bool = row.get(5)?;
        let facts = PeerFacts {
            cluster: row.get(2)?,
            shards: shards.map(|list| list.split_whitespace().flat_map(str::parse).collect()),
            capabilities: capabilities.map(Capabilities),
        };
        let addresses = addresses.split_whitespace();
        let addresses = addresses.flat_map(str::parse::<Multiaddr>).collect();
        // A row that no version of this program wrote is skipped.
        Ok(PeerId::from_bytes(&id).ok().map(|peer| PeerOffer {
            addresses,
            facts,
            was_reached,
            ..PeerOffer::new(peer, PeerSource::Remembered)
        }))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// Writes changes until the node ends, all that are waiting in one transaction.
fn write(database: &Connection, changes: &Receiver<PeerChange>) {
    let mut is_failing = false;
    while let Ok(first) = changes.recv() {
        let batch = std::iter::once(first).chain(changes.try_iter().take(CHANGES_MAX));
        let written = write_batch(database, batch);
        if let Err(error) = &written
            && !is_failing
        {
            tracing::warn!(%error, "peers are not remembered at present: the database takes no writes");
        }
        is_failing = written.is_err();
    }
}

fn write_batch(
    database: &Connection,
    changes: impl Iterator<Item = PeerChange>,
) -> rusqlite::Result<()> {
    let transaction = database.unchecked_transaction()?;
    for change in changes {
        match change {
            PeerChange::Forget(peer) => {
                transaction.execute("DELETE FROM peer WHERE id = ?1", [peer.to_bytes()])?;
            }
            PeerChange::Remember(peer, entry) => {
                transaction.execute(
                    "INSERT OR REPLACE INTO peer VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        peer.to_bytes(),
                        joined(&entry.addresses),
                        entry.facts.cluster,
                        entry.facts.shards.as_deref().map(joined),
                        entry.facts.capabilities.map(|capabilities| capabilities.0),
                        entry.was_reached,
                        now_s(),
                    ],
                )?;
            }
        }
    }
    transaction.commit()
}

/// Joins values with spaces, which neither addresses nor numbers contain.
fn joined<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    values.join(" ")
}
