//! Limits on the requests of one peer and of all peers.
//!
//! [`RateLimits`] is the setting of an operator; a [`RateLimiter`] for each service says which requests
//! are served. The arithmetic is that of nwaku: a limit lets a burst through, and each peer may use at
//! most three quarters of it.

mod bucket;
mod limiter;
mod setting;

pub use limiter::{RateLimiter, RateLimiterLimits};
pub use setting::{LimitedService, RateLimit, RateLimitError, RateLimits};
