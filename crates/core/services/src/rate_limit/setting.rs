//! Rate limits as operators write them: `store:100/1m;lightpush:10/s`.

use std::{fmt, str::FromStr, time::Duration};

use thiserror::Error;

#[cfg(test)]
#[path = "tests/setting.rs"]
mod tests;

/// Number of requests per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Number of requests; 0 for no limit.
    pub volume: u32,
    /// Period in which they may be sent; zero for no limit.
    pub period: Duration,
}

impl RateLimit {
    /// No limit.
    pub const UNLIMITED: Self = Self {
        volume: 0,
        period: Duration::ZERO,
    };

    /// Default limit of each filter client: 30 requests a minute (nwaku).
    pub const FILTER_DEFAULT: Self = Self {
        volume: 30,
        period: Duration::from_secs(60),
    };

    /// Default limit of each rendezvous client: 300 requests a minute. That is several times what nodes on many shards
    /// need, and a server can still verify that many signatures.
    pub const RENDEZVOUS_DEFAULT: Self = Self {
        volume: 300,
        period: Duration::from_secs(60),
    };

    /// Whether every request is served.
    pub fn is_unlimited(&self) -> bool {
        self.volume == 0 || self.period.is_zero()
    }
}

/// Service whose requests can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitedService {
    /// Store, named `store` or `storev3`.
    Store,
    /// Lightpush, both versions, named `lightpush`.
    Lightpush,
    /// Peer exchange, named `px`.
    PeerExchange,
    /// Filter, named `filter`; its limit is for each peer.
    Filter,
    /// Rendezvous, named `rendezvous`; its limit is for each peer.
    Rendezvous,
}

/// Limits of all services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Limit of services without one of their own; never applies to filter and rendezvous.
    other: RateLimit,
    store: Option<RateLimit>,
    lightpush: Option<RateLimit>,
    peer_exchange: Option<RateLimit>,
    filter: RateLimit,
    rendezvous: RateLimit,
}

/// Error of a text that is not a valid setting of rate limits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// The name before the colon is not a service.
    #[error(
        "unknown service {name:?} in rate limit {item:?}; expected store, storev3, lightpush, px, filter or rendezvous"
    )]
    Service {
        /// Item that was parsed.
        item: String,
        /// Name that was read.
        name: String,
    },
    /// There is no slash between volume and period.
    #[error("rate limit {item:?} must be [service:]volume/period, such as lightpush:10/1s")]
    Form {
        /// Item that was parsed.
        item: String,
    },
    /// The volume is not a 32-bit number.
    #[error("volume {volume:?} in rate limit {item:?} must be a number in 0..=4294967295")]
    Volume {
        /// Item that was parsed.
        item: String,
        /// Text in place of the volume.
        volume: String,
    },
    /// The period is not a number and a unit.
    #[error(
        "period {period:?} in rate limit {item:?} must be a number with h, m, s or ms, such as 1m"
    )]
    Period {
        /// Item that was parsed.
        item: String,
        /// Text in place of the period.
        period: String,
    },
}

impl RateLimits {
    /// Parses items such as `store:100/1m`; one text may hold several separated by `;`.
    ///
    /// An item without a service is for all services that have none of their own, except filter and rendezvous. If a
    /// service has two items, the last one counts, but `storev3` overrides `store`. A period without a number is one
    /// unit. Case and spaces do not matter. The grammar is that of nwaku's `--rate-limit`, which has neither `;`, nor
    /// periods without a number, nor `rendezvous`.
    ///
    /// # Errors
    /// [`RateLimitError`] for the first item that is not valid.
    pub fn parse<'a>(items: impl IntoIterator<Item = &'a str>) -> Result<Self, RateLimitError> {
        let mut limits = Self::default();
        let mut store_v3 = None;
        let items = items.into_iter().flat_map(|list| list.split(';'));
        for item in items.map(str::trim).filter(|item| !item.is_empty()) {
            let (name, limit) = parse_item(item)?;
            match name.as_deref() {
                None => limits.other = limit,
                Some("store") => limits.store = Some(limit),
                Some("storev3") => store_v3 = Some(limit),
                Some("lightpush") => limits.lightpush = Some(limit),
                Some("px") => limits.peer_exchange = Some(limit),
                Some("filter") => limits.filter = limit,
                Some("rendezvous") => limits.rendezvous = limit,
                Some(name) => {
                    return Err(RateLimitError::Service {
                        item: item.to_owned(),
                        name: name.to_owned(),
                    });
                }
            }
        }
        limits.store = store_v3.or(limits.store);
        Ok(limits)
    }

    /// Returns the limit for a service.
    pub fn of(&self, service: LimitedService) -> RateLimit {
        match service {
            LimitedService::Store => self.store.unwrap_or(self.other),
            LimitedService::Lightpush => self.lightpush.unwrap_or(self.other),
            LimitedService::PeerExchange => self.peer_exchange.unwrap_or(self.other),
            LimitedService::Filter => self.filter,
            LimitedService::Rendezvous => self.rendezvous,
        }
    }
}

impl Default for RateLimits {
    /// Returns no limit, except [`RateLimit::FILTER_DEFAULT`] for filter and [`RateLimit::RENDEZVOUS_DEFAULT`] for
    /// rendezvous.
    fn default() -> Self {
        Self {
            other: RateLimit::UNLIMITED,
            store: None,
            lightpush: None,
            peer_exchange: None,
            filter: RateLimit::FILTER_DEFAULT,
            rendezvous: RateLimit::RENDEZVOUS_DEFAULT,
        }
    }
}

impl FromStr for RateLimits {
    type Err = RateLimitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse([text])
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unlimited() {
            return f.write_str("no-limit");
        }
        let ms = self.period.as_millis();
        let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s")];
        let mut whole = units
            .into_iter()
            .filter(|(unit_ms, _)| ms.is_multiple_of(*unit_ms));
        let (unit_ms, unit) = whole.next().unwrap_or((1, "ms"));
        let count = ms / unit_ms;
        write!(f, "{}/{count}{unit}", self.volume)
    }
}

fn parse_item(item: &str) -> Result<(Option<String>, RateLimit), RateLimitError> {
    let (name, rate) = match item.split_once(':') {
        Some((name, rate)) => (Some(name.trim().to_lowercase()), rate),
        None => (None, item),
    };
    let form = || RateLimitError::Form {
        item: item.to_owned(),
    };
    let (volume, period) = rate.split_once('/').ok_or_else(form)?;
    let volume = volume.trim();
    let volume = digits(volume).ok_or_else(|| RateLimitError::Volume {
        item: item.to_owned(),
        volume: volume.to_owned(),
    })?;
    let period = period.trim();
    let period = parse_period(period).ok_or_else(|| RateLimitError::Period {
        item: item.to_owned(),
        period: period.to_owned(),
    })?;
    Ok((name, RateLimit { volume, period }))
}

fn parse_period(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at(unit_at);
    let count = if count.is_empty() { 1 } else { digits(count)? };
    let unit_ms = match unit.trim().to_lowercase().as_str() {
        "h" => 3_600_000,
        "m" => 60_000,
        "s" => 1000,
        "ms" => 1,
        _ => return None,
    };
    Some(Duration::from_millis(u64::from(count) * unit_ms))
}

/// Parses a number of digits only, without a sign.
fn digits(text: &str) -> Option<u32> {
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| only_digits)
}
