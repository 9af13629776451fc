//! Store, filter, lightpush and peer exchange: what this node serves to others, and asks of others.
//!
//! The machines of `undertone-services` are owned by one task, the host. Streams come from the swarm through
//! the acceptor, messages of the relay through the feed, and calls of the program through [`ServicesHandle`].

mod acceptor;
mod archive_counts;
mod calls;
mod client;
mod feed;
mod filter_client;
mod finished_work;
mod framing;
mod handle;
mod held_bytes;
mod host;
mod keeper;
mod limiters;
mod mount;
mod outlet;
mod peers;
mod publisher;
mod push_client;
mod pusher;
mod query_client;
mod recent;
mod store_watch;

pub use archive_counts::ArchiveCounts;
pub use handle::{
    FilterSubscriber, LightpushVersion, MountedServices, ServiceFailure, ServicesHandle,
    StoreAnswer,
};
pub use undertone_services::filter::FilterCriterion;

pub(crate) use mount::prepare;

#[cfg(test)]
pub(crate) use handle::{ServiceCall, services_channel};
pub use mount::{RunningServices, ServicesError};
