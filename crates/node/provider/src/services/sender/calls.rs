//! Calls of the program to the sender.

use std::collections::BTreeSet;

use undertone_gossip::fragments::FRAGMENTS_MAX;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::sending::{SendError, SendId};

use super::driver::SenderDriver;
use super::handle::{SendFailure, SenderCall};
use super::queue::QueueWrite;
use super::report::WaitingMessage;
use undertone_network::command::SenderQuestion;
use undertone_network::driver::fragments_of;

impl SenderDriver {
    pub(super) async fn on_call(&mut self, call: SenderCall) {
        // A caller that no longer waits is not an error.
        match call {
            SenderCall::Send {
                pubsub_topic,
                message,
                reply,
            } => match self.accept(pubsub_topic, message).await {
                Ok(id) => self.accepted.push((reply, id)),
                Err(failure) => drop(reply.send(Err(failure))),
            },
            SenderCall::WaitForPeer {
                pubsub_topic,
                unsent,
                restamp,
                reply,
            } => match self.wait_for_peer(pubsub_topic, unsent, restamp).await {
                Ok(id) => self.accepted.push((reply, id)),
                Err(failure) => drop(reply.send(Err(failure))),
            },
            SenderCall::Reports {
                id,
                is_fetched,
                reply,
            } => {
                let reports = self.reports.of(id);
                if is_fetched && !reports.is_empty() {
                    let forgotten = self.reports.forget(&reports);
                    self.writes.push(QueueWrite::Forget(forgotten));
                }
                let _ = reply.send(reports);
            }
            SenderCall::Messages { reply } => {
                let waiting = self.machine.waiting().into_iter();
                let _ = reply.send(waiting.filter_map(WaitingMessage::of).collect());
            }
            SenderCall::Waiting { reply } => {
                let _ = reply.send(self.machine.len());
            }
        }
    }

    async fn accept(
        &mut self,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<SendId, SendFailure> {
        let pubsub_topic = self.topic(pubsub_topic, &message)?;
        let fragments = fragments_of(self.settings.fragment_bytes, &message);
        let fragments = fragments.unwrap_or_else(|| vec![message]);
        // The first fragment is as long as any other, and nothing else that is checked differs between them.
        let Some(checked) = fragments.first().cloned() else {
            let (count, max) = (0, FRAGMENTS_MAX);
            return Err(SendError::Fragments { count, max }.into());
        };
        let topic = pubsub_topic.clone();
        let question = |reply| SenderQuestion::Check {
            pubsub_topic: topic,
            message: checked,
            reply,
        };
        let asked = self.work.node.sender(question).await;
        asked??;
        if self.work.archive.is_some() && self.settings.relays {
            // The node's own archive stores messages of subscribed topics. If there are too many subscriptions, the
            // message is looked up in other stores.
            let _ = self.work.node.subscribe(pubsub_topic.clone()).await;
        }
        self.refresh(BTreeSet::from([pubsub_topic.clone()])).await;
        let topic = pubsub_topic.to_string().into();
        let now = self.clock.now();
        Ok(self.machine.send_fragments(now, topic, fragments)?)
    }

    /// Returns the given topic, or the one that carries the content topic.
    fn topic(
        &self,
        given: Option<PubsubTopic>,
        message: &WakuMessage,
    ) -> Result<PubsubTopic, SendFailure> {
        if let Some(given) = given {
            return Ok(given);
        }
        let failure = |error: &dyn std::error::Error| SendFailure::Topic(error.to_string());
        let topic = self.settings.sharding.derive(&message.content_topic);
        let topic = topic.map_err(|error| failure(&error))?;
        PubsubTopic::parse_any(&topic).map_err(|error| failure(&error))
    }
}
