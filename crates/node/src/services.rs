//! Store, filter, lightpush and peer exchange: what this node serves to others, and asks of others.

mod handle;

pub use handle::{
    FilterCriterion, FilterSubscriber, LightpushVersion, MountedServices, ServiceFailure,
    ServicesHandle, StoreAnswer,
};
pub(crate) use handle::{ServiceCall, ServicesEndpoint, services_channel};
