//! Store, filter, lightpush, peer exchange and rendezvous: what this node serves to others, and requests from others.
//!
//! One task owns the host of `undertone-services`, which combines the state machines of all services. Streams come from
//! the swarm through the acceptor, messages from the relay through the feed, and calls of the program through
//! [`ServicesHandle`].

mod accepted;
mod acceptor;
mod answer;
mod archive_counts;
mod calls;
mod channel;
mod client;
mod exchange_client;
mod feed;
mod finished_work;
mod framing;
mod handle;
mod held_bytes;
mod host;
mod keeper;
mod kept_connections;
mod light_driver;
mod machines;
mod mount;
mod options;
mod peers;
mod publisher;
mod push_client;
mod push_order;
mod push_prover;
mod push_streams;
mod pusher;
mod query_client;
mod rendezvous;
mod request_id;
mod resume;
mod sender;
mod service_peers;
mod store_watch;
mod sync;
mod totals;

pub use answer::{LightpushVersion, ServiceFailure, StoreAnswer};
pub use archive_counts::ArchiveCounts;
pub use channel::{ChannelEvent, ChannelFailure, ChannelOptions, ChannelSender, ReliableChannel};
pub use handle::{FilterSubscriber, MountedServices, ServicesHandle};
pub use light_driver::LightStatus;
pub use mount::{RunningServices, ServicesError, UnsavedWork, prepare};
pub use options::{
    SenderRateLimit, SenderSettings, ServicesConfig, ServicesOptions, StoreConfig, StoreSyncConfig,
};
pub use sender::{
    SendFailure, SendNews, SendNewsStream, SendQueueError, SendQueueState, SendReport, SendStep,
    SenderHandle, WaitingMessage,
};
pub use sync::{PastProofs, SessionHistogram, SyncFailure, SyncHandle, SyncOutcome, SyncTotals};
pub use totals::{DurationHistogram, RendezvousTotals, ServiceTotals};
pub use undertone_services::filter::FilterCriterion;
pub use undertone_services::host::ProtocolTotals;
pub use undertone_services::sending::{FailReason, SendError, SendId, Unconfirmed};

pub(crate) use exchange_client::ExchangeClient;
pub(crate) use rendezvous::{PeerAddresses, RendezvousClient, Turn, sign_record};

/// For replacements of a node's services, such as in the tests of the REST API.
pub use handle::{AskServices, ServiceAnswer};
pub use light_driver::LightCall;
pub use sender::{SenderCall, SenderEndpoint, sender_channel};
