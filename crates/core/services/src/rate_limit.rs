//! Limits on the requests of one peer and of all peers.
//!
//! [`RateLimits`] is the setting of an operator; a [`RateLimiter`] for each service says which requests
//! are served. As with nwaku, a limit lets a burst through; that and what comes
//! after it is divided fairly among the peers.

mod bucket;
mod fair;
mod limiter;
mod setting;

pub use limiter::{RateLimiter, RateLimiterLimits};
pub use setting::{LimitedService, RateLimit, RateLimitError, RateLimits};
