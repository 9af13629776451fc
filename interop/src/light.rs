//! A light node among service nodes that are killed and suspended, and peers that lie: what it is given, compared with
//! what the stores hold.

mod campaign;
mod events;
mod segments;
mod stage;

pub use campaign::{CampaignPlan, LightCampaignReport, TroubleCount};
pub use events::{DeliveryCounts, EventReader};
pub use segments::SegmentCount;
pub use stage::{CONTENT_TOPIC, LightStage, PUBSUB_TOPIC, StagePlan};
