//! Resolves the keys of services: those that the node offers, and peers whose services it uses.

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use undertone_archive::{ArchiveUrl, ArchiveUrlError, RetentionError};
use undertone_services::rate_limit::RateLimits;

use super::Resolver;
use crate::config::ConfigError;
use crate::config::setting::Setting;
use undertone_provider::services::{ServicesConfig, StoreConfig, StoreSyncConfig};

impl Resolver {
    pub(super) fn services(&self) -> Result<ServicesConfig, ConfigError> {
        let raw = &self.raw;
        let relays = raw.relay.get()?;
        Ok(ServicesConfig {
            store: self.store()?,
            filter: raw.filter.get()? && relays,
            lightpush: raw.lightpush.get()? && relays,
            lightpush_proofs: raw.lightpush_proofs.get()?,
            unserved: match relays {
                true => Vec::new(),
                false => self.asked_of_relays(),
            },
            peer_exchange: raw.peer_exchange.get()?,
            rendezvous: raw.rendezvous.get()? && relays,
            store_peers: Self::peers(&raw.storenode)?,
            filter_peers: Self::peers(&raw.filternode)?,
            lightpush_peers: Self::peers(&raw.lightpushnode)?,
            exchange_peers: Self::peers(&raw.peer_exchange_node)?,
            send_queue: Some(self.data_file("send-queue.sqlite")?),
            rate_limits: self.rate_limits()?,
        })
    }

    /// Returns the keys of services that were explicitly switched on and that only a relay can offer.
    fn asked_of_relays(&self) -> Vec<&'static str> {
        let raw = &self.raw;
        let services = [&raw.filter, &raw.lightpush, &raw.lightpush_proofs];
        let asked = services.iter().filter(|service| service.is_asked_for());
        asked.map(|service| service.name()).collect()
    }

    fn store(&self) -> Result<Option<StoreConfig>, ConfigError> {
        let raw = &self.raw;
        // Parsed even without the store, so that a mistake does not surface only when the store is switched
        // on.
        let url = match raw.store_message_db_url.get()? {
            Some(url) => url.parse().map_err(|error: ArchiveUrlError| {
                raw.store_message_db_url.bad_because(error.to_string())
            })?,
            None => ArchiveUrl::sqlite(self.data_file("store.sqlite")?),
        };
        let policy = &raw.store_message_retention_policy;
        let retention = policy.get()?.parse();
        let retention =
            retention.map_err(|error: RetentionError| policy.bad_because(error.to_string()))?;
        if !raw.store.get()? {
            for key in [&raw.store_sync, &raw.store_resume] {
                if key.get()? {
                    return Err(
                        key.bad_because("false as long as store is false; set store = true")
                    );
                }
            }
            return Ok(None);
        }
        Ok(Some(StoreConfig {
            url,
            retention,
            sync: self.store_sync()?,
            resume: raw.store_resume.get()?,
        }))
    }

    fn rate_limits(&self) -> Result<RateLimits, ConfigError> {
        let key = &self.raw.rate_limit;
        let items = key.get()?.unwrap_or_default();
        let limits = RateLimits::parse(items.iter().map(String::as_str));
        limits.map_err(|error| key.bad_because(error.to_string()))
    }

    fn store_sync(&self) -> Result<Option<StoreSyncConfig>, ConfigError> {
        let raw = &self.raw;
        if !raw.store_sync.get()? {
            return Ok(None);
        }
        Ok(Some(StoreSyncConfig {
            interval_s: raw.store_sync_interval.get()?,
            range_s: raw.store_sync_range.get()?,
            relay_jitter_s: raw.store_sync_relay_jitter.get()?,
        }))
    }

    /// Parses addresses of service peers, which must include a peer id.
    fn peers(setting: &Setting<Option<Vec<String>>>) -> Result<Vec<Multiaddr>, ConfigError> {
        let addresses = Self::addresses(setting)?;
        let has_peer =
            |address: &Multiaddr| matches!(address.iter().last(), Some(Protocol::P2p(_)));
        match addresses.iter().find(|address| !has_peer(address)) {
            Some(bad) => Err(setting.bad_because(format!(
                "multiaddresses that end with /p2p/ and a peer id; {bad} does not"
            ))),
            None => Ok(addresses),
        }
    }
}
