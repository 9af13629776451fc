//! Start of the services that a configuration asks for.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use libp2p::StreamProtocol;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use thiserror::Error;
use tokio::sync::mpsc;
use undertone_archive::{
    Archive, ArchiveError, ArchiveOptions, ArchiveUrl, ArchiveUrlError, RetentionError,
    RetentionPolicy,
};
use undertone_services::filter::{self, FilterServer};
use undertone_services::lightpush::{self, LightpushServer};
use undertone_services::peer_exchange::{self, PeerExchangeServer};
use undertone_services::rate_limit::{RateLimitError, RateLimits};
use undertone_services::sharding::Sharding;
use undertone_services::store::{self, ServerLimits, StoreServer};

use super::acceptor::{self, AcceptedProtocol};
use super::calls::{self, Callee};
use super::client::PeerClient;
use super::feed;
use super::filter_client::FilterClient;
use super::handle::{MountedServices, ServicesHandle, services_channel};
use super::host::{HostChannels, Machines, ServicesHost};
use super::keeper::{self, KeeperCounts};
use super::limiters::ServiceLimiters;
use super::publisher::Publisher;
use super::pusher::Pusher;
use super::store_watch::StoreWatch;
use crate::config::{NodeConfig, ServicesConfig};
use crate::handle::NodeHandle;
use crate::swarm::{ServiceStreams, StreamChannels};

/// Requests, messages and calls that wait for the host at most; further ones wait in their tasks.
const HOST_QUEUE: usize = 1_024;

/// Longest time for which a stopping node waits for the archive.
const FLUSH: Duration = Duration::from_secs(10);

/// Reason why the services cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// The address of the archive is not one.
    #[error("store-message-db-url: {0}")]
    Url(#[from] ArchiveUrlError),
    /// The retention policy is not one.
    #[error("store-message-retention-policy: {0}")]
    Retention(#[from] RetentionError),
    /// A limit on requests is not one.
    #[error("rate-limit: {0}")]
    RateLimit(#[from] RateLimitError),
    /// The archive cannot be opened.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The system has no random numbers.
    #[error("the system's random generator: {0}")]
    Random(std::io::Error),
}

/// Services that are ready to run once the node does.
pub(crate) struct PreparedServices {
    config: ServicesConfig,
    sharding: Sharding,
    max_message_bytes: usize,
    needs_proof: bool,
    connections_max: u32,
    archive: Option<Archive>,
    rate_limits: RateLimits,
    channels: StreamChannels,
}

/// Running services of a node.
pub struct RunningServices {
    /// Handle to ask this node's services, and through them those of others.
    pub handle: ServicesHandle,
    keeper: Option<KeeperCounts>,
}

impl RunningServices {
    /// Waits until messages that the node has found valid are in the archive, for ten seconds at most.
    pub(crate) async fn flush(&self) {
        let Some(keeper) = &self.keeper else { return };
        let flushed = async {
            while keeper.pending() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(FLUSH, flushed).await.is_err() {
            let lost = keeper.pending();
            tracing::error!(
                lost,
                "the archive did not take all messages before the node stopped"
            );
        }
    }
}

/// Opens the archive, and makes the behaviour that the node needs for its services.
///
/// # Errors
/// [`ServicesError`] names the key and the remedy.
pub(crate) async fn prepare(
    config: &NodeConfig,
) -> Result<(PreparedServices, ServiceStreams), ServicesError> {
    let services = config.services.clone();
    let rate_limits = services.rate_limits.iter().map(String::as_str);
    let rate_limits = RateLimits::parse(rate_limits)?;
    let archive = match &services.store {
        Some(store) => {
            let url: ArchiveUrl = store.url.parse()?;
            let retention: RetentionPolicy = store.retention.parse()?;
            let options = ArchiveOptions::default().with_retention(retention);
            Some(Archive::open(&url, options).await?)
        }
        None => None,
    };
    let protocols = accepted(&services);
    let protocols = protocols
        .iter()
        .map(|one| StreamProtocol::new(one.protocol));
    let (streams, channels) = ServiceStreams::new(protocols.collect());
    let prepared = PreparedServices {
        sharding: Sharding {
            cluster: config.network.cluster_id,
            num_shards: config.autosharding.then_some(config.network.num_shards),
        },
        max_message_bytes: config.network.max_message_bytes,
        needs_proof: config.rln.is_some() && !services.lightpush_proofs,
        connections_max: config.connections.total_max,
        config: services,
        archive,
        rate_limits,
        channels,
    };
    Ok((prepared, streams))
}

/// Protocols whose streams are accepted. Pushed messages are always, because a program may subscribe at any
/// time.
fn accepted(config: &ServicesConfig) -> Vec<AcceptedProtocol> {
    let accept = |protocol, frame_bytes_max, is_push| AcceptedProtocol {
        protocol,
        frame_bytes_max,
        is_push,
    };
    let push_bytes_max = filter::FilterCodecLimits::default().max_push_bytes;
    let mut accepted = vec![accept(filter::PUSH_PROTOCOL_ID, push_bytes_max, true)];
    if config.store.is_some() {
        let max = ServerLimits::default().request.max_request_bytes;
        accepted.push(accept(store::PROTOCOL_ID, max, false));
    }
    if config.filter {
        let max = filter::FilterCodecLimits::default().max_request_bytes;
        accepted.push(accept(filter::SUBSCRIBE_PROTOCOL_ID, max, false));
    }
    if config.lightpush {
        let max = lightpush::LightpushCodecLimits::default().max_request_bytes;
        accepted.push(accept(lightpush::PROTOCOL_ID, max, false));
        accepted.push(accept(lightpush::legacy::PROTOCOL_ID, max, false));
    }
    if config.peer_exchange {
        let max = peer_exchange::PeerExchangeCodecLimits::default().max_request_bytes;
        accepted.push(accept(peer_exchange::PROTOCOL_ID, max, false));
    }
    accepted
}

impl PreparedServices {
    /// Starts the services of a node that runs.
    ///
    /// # Errors
    /// [`ServicesError::Random`] if the system has no random numbers.
    pub(crate) fn run(self, node: &NodeHandle) -> Result<RunningServices, ServicesError> {
        let Self {
            config,
            sharding,
            max_message_bytes,
            needs_proof,
            connections_max,
            archive,
            rate_limits,
            channels,
        } = self;
        let mounted = MountedServices {
            store: archive.is_some(),
            filter: config.filter,
            lightpush: config.lightpush,
            peer_exchange: config.peer_exchange,
        };
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(std::io::Error::from)
            .map_err(ServicesError::Random)?;
        let (queue, keeper) = archive.clone().map(keeper::start).unzip();
        let store = archive.clone().zip(keeper.clone());
        let store = store.map(|(archive, counts)| StoreWatch { archive, counts });
        let (handle, endpoint) = services_channel(mounted, store);
        let (requests_in, requests) = mpsc::channel(HOST_QUEUE);
        let (messages_in, messages) = mpsc::channel(HOST_QUEUE);
        let (calls_in, calls) = mpsc::channel(HOST_QUEUE);
        let (pushes_in, pushes) = mpsc::channel(HOST_QUEUE);
        let (done, results) = mpsc::unbounded_channel();

        let streams = acceptor::Requests {
            answered: requests_in,
            pushed: pushes_in.clone(),
        };
        tokio::spawn(acceptor::accept(
            channels.inbound,
            accepted(&config),
            streams,
        ));
        if config.filter || queue.is_some() {
            let pushed = config.filter.then_some(messages_in);
            node.add_sink(Arc::new(feed::start(queue, pushed)));
        }
        let client = PeerClient::new(channels.opener.clone(), node.clone());
        let filter_client = FilterClient::new(client.clone(), config.filter_peers, endpoint.pushed);
        tokio::spawn(filter_client.run(pushes));
        let callee = Callee {
            client,
            node: node.clone(),
            archive: archive.clone(),
            filter: pushes_in,
            host: calls_in,
            mounted,
            sharding,
            store_peers: config.store_peers.into(),
            lightpush_peers: config.lightpush_peers.into(),
            next_request: Arc::new(AtomicU64::new(0)),
        };
        tokio::spawn(calls::run(callee, endpoint.calls));
        let machines = Machines {
            store: archive.map(|archive| (StoreServer::new(ServerLimits::default()), archive)),
            filter: config.filter.then(|| {
                let mut limits = filter::FilterLimits::default();
                // Peers that are away give way, so that whoever has a connection finds a place.
                let connections_max = usize::try_from(connections_max).unwrap_or(usize::MAX);
                limits.max_peers = limits.max_peers.max(connections_max);
                FilterServer::new(sharding, limits)
            }),
            lightpush: config.lightpush.then(|| {
                let mut limits = lightpush::LightpushLimits::default();
                limits.codec.message.max_message_bytes = max_message_bytes;
                LightpushServer::new(sharding, limits)
            }),
            exchange: config.peer_exchange.then(|| {
                let rng = ChaCha8Rng::from_seed(seed);
                PeerExchangeServer::new(rng, peer_exchange::PeerExchangeLimits::default())
            }),
        };
        let host = ServicesHost::new(
            machines,
            ServiceLimiters::new(&rate_limits),
            Publisher::new(node.clone(), needs_proof),
            Pusher::new(channels.opener, done.clone()),
            (done, results),
        );
        tokio::spawn(host.run(HostChannels {
            requests,
            messages,
            calls,
            gone: channels.gone,
        }));
        Ok(RunningServices { handle, keeper })
    }
}
