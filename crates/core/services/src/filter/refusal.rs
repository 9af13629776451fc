//! Reasons for refusing a request, with the statuses and texts of nwaku, which clients compare.

use thiserror::Error;

use super::{codec::FilterStatus, subscriptions::Full};
use crate::{rpc::RpcFrameError, sharding::ShardingError};

/// Reason for refusing a request; its text is the description of the status.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FilterRefusal {
    #[error("BAD_REQUEST: {0}")]
    Malformed(RpcFrameError),
    #[error("BAD_REQUEST: exceeds maximum content topics: {max}")]
    TooManyContentTopics { max: usize },
    #[error("BAD_REQUEST: pubsubTopic and contentTopics must be specified")]
    TopicsRequired,
    #[error("BAD_REQUEST: {0}")]
    Sharding(ShardingError),
    #[error("NOT_FOUND: peer has no subscriptions")]
    NotFound,
    #[error("filter request rejected due rate limit exceeded")]
    TooManyRequests,
    #[error("SERVICE_UNAVAILABLE: node has reached maximum number of subscriptions: {max}")]
    TooManyPeers { max: usize },
    #[error("SERVICE_UNAVAILABLE: peer has reached maximum number of filter criteria")]
    TooManyCriteria,
    #[error("SERVICE_UNAVAILABLE: no memory left for filter criteria")]
    NoMemory,
}

impl FilterRefusal {
    pub(super) fn from_full(full: Full, max_peers: usize) -> Self {
        match full {
            Full::Peers => Self::TooManyPeers { max: max_peers },
            Full::Criteria => Self::TooManyCriteria,
            Full::Bytes => Self::NoMemory,
        }
    }

    pub(super) fn status(&self) -> FilterStatus {
        match self {
            Self::Malformed(_)
            | Self::TooManyContentTopics { .. }
            | Self::TopicsRequired
            | Self::Sharding(_) => FilterStatus::BAD_REQUEST,
            Self::NotFound => FilterStatus::NOT_FOUND,
            Self::TooManyRequests => FilterStatus::TOO_MANY_REQUESTS,
            Self::TooManyPeers { .. } | Self::TooManyCriteria | Self::NoMemory => {
                FilterStatus::SERVICE_UNAVAILABLE
            }
        }
    }
}

impl From<RpcFrameError> for FilterRefusal {
    fn from(error: RpcFrameError) -> Self {
        match error {
            RpcFrameError::TooManyContentTopics { max } => Self::TooManyContentTopics { max },
            error => Self::Malformed(error),
        }
    }
}

impl From<ShardingError> for FilterRefusal {
    fn from(error: ShardingError) -> Self {
        match error {
            ShardingError::TopicRequired => Self::TopicsRequired,
            error => Self::Sharding(error),
        }
    }
}
