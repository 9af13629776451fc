//! Limits on the requests of one peer and of all peers.
//!
//! [`RateLimits`] is the operator's setting; a [`RateLimiter`] for each service decides which requests
//! are served. As in nwaku, a limit allows a burst. The burst and the rate after it are divided fairly
//! among the peers.

mod bucket;
mod fair;
mod limiter;
mod setting;

pub use limiter::{RateLimiter, RateLimiterLimits};
pub use setting::{LimitedService, RateLimit, RateLimitError, RateLimits};
