//! Start of the services that a configuration asks for.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use undertone_archive::{Archive, ArchiveError, ArchiveOptions};
use undertone_message::MessageLimits;
use undertone_services::host::ServiceHost;

use super::accepted::accepted;
use super::acceptor;
use super::calls::Callee;
use super::client::PeerClient;
use super::exchange_client::ExchangeClient;
use super::feed::{self, FeedCounts};
use super::handle::{MountedServices, ServicesHandle};
use super::host::{HostDriver, HostParts};
use super::keeper::{self, KeeperCounts};
use super::kept_connections;
use super::light_driver::{LightDriver, LightParts, LightStatus};
use super::machines::machines;
use super::publisher::Publisher;
use super::push_order::PushOrder;
use super::push_prover::PushProver;
use super::rendezvous::RendezvousClient;
use super::sender::{self, OpenedSender, SendQueueError, SenderParts, SenderWork, sender_channel};
use super::service_peers::{ConfiguredPeers, ServicePeers};
use super::store_watch::StoreWatch;
use super::sync::{self, HistoryCheck, SyncOptions, SyncParts};
use super::totals::ServiceTotals;
use super::{ServicesOptions, resume, resume::ResumeParts};
use undertone_network::driver::{Clock, PeerNews};
use undertone_network::handle::{Deliveries, NodeHandle};
use undertone_network::swarm::{ServiceStreams, StreamChannels};

/// Interval at which a stopping node checks whether the archive has stored all messages.
const FLUSH_LOOK: Duration = Duration::from_millis(10);

/// Reason why the services cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// The archive cannot be opened.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The send queue cannot be used.
    #[error(transparent)]
    SendQueue(#[from] SendQueueError),
    /// The system has no random numbers.
    #[error("the system's random generator: {0}")]
    Random(std::io::Error),
}

/// Services that are ready to start once the node runs.
pub struct PreparedServices {
    options: ServicesOptions,
    archive: Option<Archive>,
    sender: OpenedSender,
    channels: StreamChannels,
    news: mpsc::UnboundedReceiver<PeerNews>,
}

/// The services' ends of the channels that go into the node's options.
pub struct NodeLinks {
    /// Behaviour that carries the services' streams.
    pub streams: ServiceStreams,
    /// Channel for news about peers.
    pub news: mpsc::UnboundedSender<PeerNews>,
}

/// Running services of a node.
pub struct RunningServices {
    /// Handle to this node's services, and through them to those of other nodes.
    pub handle: ServicesHandle,
    /// Client of peer exchange.
    pub(crate) exchange: ExchangeClient,
    /// Client of rendezvous.
    pub(crate) rendezvous: RendezvousClient,
    feed: Option<FeedCounts>,
    keeper: Option<KeeperCounts>,
    sender: JoinHandle<()>,
}

impl RunningServices {
    /// Waits until the messages that the node has validated are in the archive and the sender has ended, but not beyond
    /// `deadline`.
    pub async fn flush(self, deadline: Instant) -> UnsavedWork {
        // A started sender ends with the node; a panic was logged where it happened. Then its queue is free for the
        // next run.
        let sender_ended = timeout_at(deadline, self.sender).await.is_ok();
        if !sender_ended {
            tracing::error!(
                "the send queue could not be written before the node stopped; see earlier errors"
            );
        }
        let waiting = || {
            // Checked in the order in which messages pass, so that none slips through between the two.
            let fed = self.feed.as_ref().map_or(0, FeedCounts::waiting);
            let kept = self.keeper.as_ref().map_or(0, KeeperCounts::pending);
            fed + kept
        };
        let flushed = async {
            while waiting() > 0 {
                tokio::time::sleep(FLUSH_LOOK).await;
            }
        };
        let flushed = timeout_at(deadline, flushed).await.is_ok();
        let messages = if flushed { 0 } else { waiting() };
        if messages > 0 {
            tracing::error!(
                messages,
                "the archive did not take all messages before the node stopped"
            );
        }
        UnsavedWork {
            messages,
            send_queue: !sender_ended,
        }
    }
}

/// Work of the services that was not on disk when a node stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsavedWork {
    /// Messages that waited for the archive.
    pub messages: u64,
    /// Whether the send queue had changes that could not be written.
    pub send_queue: bool,
}

/// Opens the archive, and creates the behaviour that the node needs for its services.
///
/// # Errors
/// [`ServicesError`] names the configuration key and the remedy.
pub async fn prepare(
    options: ServicesOptions,
) -> Result<(PreparedServices, NodeLinks), ServicesError> {
    let config = &options.config;
    let archive = match &config.store {
        Some(store) => {
            let options = ArchiveOptions::default().with_retention(store.retention);
            Some(Archive::open(&store.url, options).await?)
        }
        None => None,
    };
    let protocols = accepted(config);
    let protocols = protocols
        .iter()
        .map(|one| StreamProtocol::new(one.protocol));
    let (streams, channels) = ServiceStreams::new(protocols.collect());
    let (news_in, news) = mpsc::unbounded_channel();
    let sender = sender::open(options.sender.clone())?;
    let prepared = PreparedServices {
        options,
        archive,
        sender,
        channels,
        news,
    };
    let links = NodeLinks {
        streams,
        news: news_in,
    };
    Ok((prepared, links))
}

impl PreparedServices {
    /// Starts the services of a running node; `known` has the node records for peer exchange.
    ///
    /// # Errors
    /// [`ServicesError::Random`] if the system has no random numbers.
    pub fn run(
        self,
        node: &NodeHandle,
        own: PeerId,
        known: watch::Receiver<Vec<Bytes>>,
    ) -> Result<RunningServices, ServicesError> {
        let (options, archive, channels) = (self.options, self.archive, self.channels);
        let (config, settings) = (options.config, options.sender);
        let (sharding, is_relay) = (settings.sharding, settings.relays);
        let configured = ConfiguredPeers {
            store: config.store_peers.clone(),
            filter: config.filter_peers.clone(),
            lightpush: config.lightpush_peers.clone(),
        };
        let mounted = MountedServices {
            store: archive.is_some(),
            filter: config.filter,
            lightpush: config.lightpush,
            lightpush_proofs: config.lightpush_proofs,
            peer_exchange: config.peer_exchange,
            rendezvous: config.rendezvous,
        };
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(std::io::Error::from)
            .map_err(ServicesError::Random)?;
        let mut rng = ChaCha8Rng::from_seed(seed);
        let service_peers = ServicePeers::start(
            configured,
            sharding.cluster,
            node.clone(),
            self.news,
            ChaCha8Rng::from_rng(&mut rng),
        );
        let sync = config.store.as_ref().and_then(|store| store.sync.as_ref());
        let sync = sync.map(SyncOptions::new);
        let index = sync.as_ref().map(|options| options.index.clone());
        let keeping = archive.clone();
        let keeping = keeping.map(|archive| keeper::start(archive, index.clone()));
        let (queue, keeper) = keeping.unzip();
        let store = archive.clone().zip(keeper.clone());
        let store = store.map(|(archive, counts)| StoreWatch { archive, counts });
        let light_status = Arc::new(Mutex::new(LightStatus::default()));
        let client = PeerClient::new(
            channels.opener.clone(),
            node.clone(),
            service_peers.clone(),
            light_status.clone(),
        );
        let store_peers: Arc<[Multiaddr]> = config.store_peers.as_slice().into();
        let mut limits = MessageLimits::default();
        limits.max_message_bytes = settings.max_message_bytes;
        let check = HistoryCheck::new(limits, options.proofs);
        let resumes = config.store.as_ref().is_some_and(|store| store.resume);
        if let Some(archive) = archive.clone().filter(|_| resumes) {
            tokio::spawn(resume::run(ResumeParts {
                node: node.clone(),
                client: client.clone(),
                archive,
                index,
                check: check.clone(),
                topics: options.topics.clone(),
                store_peers: Arc::clone(&store_peers),
                data_dir: options.data_dir,
            }));
        }
        let synced = sync.zip(archive.clone()).map(|(sync, archive)| {
            let parts = SyncParts {
                node: node.clone(),
                own,
                streams: channels.opener.clone(),
                archive,
                check,
                topics: options.topics,
                peers: service_peers.clone(),
                store_peers: Arc::clone(&store_peers),
                rng: ChaCha8Rng::from_rng(&mut rng),
            };
            sync::start(sync, parts)
        });
        let (sync, sessions) = synced.unzip();
        let rng_of_machines = ChaCha8Rng::from_rng(&mut rng);
        let machines = machines(&config, &settings, options.connections_max, rng_of_machines);
        let host = HostDriver::start(HostParts {
            host: ServiceHost::new(machines, config.rate_limits),
            archive: archive.clone(),
            publisher: Publisher::new(node.clone(), options.needs_proof),
            streams: channels.opener.clone(),
            totals: ServiceTotals::new(&config),
            gone: channels.gone,
            known,
        });
        let pushed = Deliveries::default();
        self.sender.reassemble(&pushed);
        let light = LightParts {
            client: client.clone(),
            peers: service_peers.clone(),
            sinks: pushed.clone(),
            clock: Clock::start(settings.clock_ahead_ns),
            rng: ChaCha8Rng::from_rng(&mut rng),
        };
        let light = LightDriver::start(light, light_status.clone());
        let accepting = acceptor::Requests {
            answered: host.requests,
            pushed: light.clone(),
            sessions,
            tracer: node.tracer().cloned(),
        };
        tokio::spawn(acceptor::accept(
            channels.inbound,
            accepted(&config),
            accepting,
        ));
        let messages = config.filter.then_some(host.messages);
        let feed = (config.filter || queue.is_some()).then(|| feed::start(node, queue, messages));
        tokio::spawn(kept_connections::keep(
            service_peers.clone(),
            channels.opener,
            is_relay,
        ));
        let callee = Callee {
            client: client.clone(),
            node: node.clone(),
            archive: archive.clone(),
            host: host.driver,
            mounted,
            is_relay,
            sharding,
            store_peers,
            lightpush_peers: config.lightpush_peers,
            push_order: PushOrder::default(),
            prover: (!is_relay && settings.rate_limit.is_some())
                .then(|| PushProver::new(node.clone(), settings.clock_ahead_ns)),
        };
        let (sender_handle, sender_endpoint) = sender_channel();
        let mut handle = ServicesHandle::new(
            (Arc::new(callee), mounted),
            (light, light_status),
            pushed,
            sharding,
            sender_handle,
        );
        (handle.store, handle.sync) = (store, sync);
        let sender_parts = SenderParts {
            work: SenderWork {
                node: node.clone(),
                client: client.clone(),
                archive,
            },
            peers: service_peers,
            services: handle.clone(),
            endpoint: sender_endpoint,
        };
        let sender = sender::start(self.sender, sender_parts, ChaCha8Rng::from_rng(&mut rng));
        let exchange = ExchangeClient::new(client.clone(), config.exchange_peers);
        let rendezvous = RendezvousClient::new(client);
        Ok(RunningServices {
            handle,
            exchange,
            rendezvous,
            feed,
            keeper,
            sender,
        })
    }
}
