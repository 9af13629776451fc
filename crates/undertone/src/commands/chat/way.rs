//! Ways of a chat's messages into the network: by this node's relay, or without it through lightpush peers.

use std::time::{Duration, Instant};

use undertone_message::{PubsubTopic, WakuMessage, message_hash};
use undertone_node::command::{Post, PostState, PublishFailure};
use undertone_node::handle::NodeHandle;
use undertone_node::services::{LightStatus, LightpushVersion, ServiceFailure, ServicesHandle};

#[cfg(test)]
mod tests;

/// Time for which lightpush peers are tried. Later, relays would refuse the message as too old.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause before lightpush peers are tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Way of a chat's messages into the network.
#[derive(Clone)]
pub(super) enum SendWay {
    /// This node's relay.
    Relay(NodeHandle),
    /// Lightpush peers of a node without relay.
    Lightpush(ServicesHandle),
}

impl SendWay {
    /// Sends a message, and returns the first answer about it.
    pub(super) async fn send(
        self,
        topic: PubsubTopic,
        message: WakuMessage,
    ) -> Result<Post, PublishFailure> {
        match self {
            // A message that waited gets a new time, so that others still accept it.
            Self::Relay(node) => node.post(topic, message, true).await,
            Self::Lightpush(services) => push(&services, topic, message).await,
        }
    }

    /// State of the subscription at filter peers; `None` for a relay, which needs none.
    pub(super) fn light_status(&self) -> Option<LightStatus> {
        match self {
            Self::Relay(_) => None,
            Self::Lightpush(services) => Some(services.light_status()),
        }
    }
}

async fn push(
    services: &ServicesHandle,
    topic: PubsubTopic,
    message: WakuMessage,
) -> Result<Post, PublishFailure> {
    let begun = Instant::now();
    let failure = loop {
        let version = LightpushVersion::V3;
        let pushed = services
            .push(version, Some(topic.clone()), message.clone())
            .await;
        match pushed {
            Ok(peers) => {
                let hash = message_hash(&topic.to_string(), &message);
                let peers = usize::try_from(peers).unwrap_or(usize::MAX);
                return Ok(Post {
                    id: 0,
                    content_topic: message.content_topic.to_string(),
                    pubsub_topic: topic,
                    state: PostState::Sent { peers, hash },
                });
            }
            Err(failure) if is_final(&failure) || begun.elapsed() >= PATIENCE => break failure,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    };
    let reason = match failure {
        ServiceFailure::Refused { description, .. } => {
            format!("the lightpush peer refused it: {description}")
        }
        failure => failure.to_string(),
    };
    Err(PublishFailure::InvalidMessage { reason })
}

/// Whether another try would end the same way: the message is refused, or nobody can prove it.
fn is_final(failure: &ServiceFailure) -> bool {
    match failure {
        ServiceFailure::Refused { status, .. } => matches!(status, 400..=421 | 504),
        ServiceFailure::Topic(_) | ServiceFailure::Stopped => true,
        _ => false,
    }
}
