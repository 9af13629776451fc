//! A light node among service nodes that are killed and suspended, and peers that lie. Compares its deliveries with
//! the stores' messages, and follows the messages that it sends to their final states.

mod campaign;
mod events;
mod segments;
mod sends;
mod test_network;

pub use campaign::{CampaignPlan, LightCampaignReport, TroubleCount};
pub use events::{DeliveryCounts, EventReader};
pub use segments::SegmentCount;
pub use sends::{SendEnd, SentMessages};
pub use test_network::{CONTENT_TOPIC, LightTestNetwork, PUBSUB_TOPIC, StagePlan};
