//! Starts the machine's outputs, once the changes that it wants kept are on disk.

use std::future::Future;

use undertone_services::light::ServicePeerFailure;
use undertone_services::sending::{Input, Output, PushFailure};

use super::driver::{OWN_ARCHIVE, SenderDriver};
use super::work::SenderDone;

impl SenderDriver {
    pub(super) fn begin(&mut self, output: Output) {
        let work = self.work.clone();
        match output {
            Output::Prove {
                id,
                attempt,
                pubsub_topic,
                message,
            } => self.spawn(async move {
                let result = work.prove(&pubsub_topic, message).await;
                SenderDone::Proved {
                    id,
                    attempt,
                    result,
                }
            }),
            Output::CheckProof { id, message } => self.spawn(async move {
                let is_good = work.is_proof_good(message).await;
                SenderDone::ProofChecked { id, is_good }
            }),
            Output::Relay {
                id,
                pubsub_topic,
                message,
                is_delivered,
            } => self.spawn(async move {
                let result = work.relay(&pubsub_topic, message, is_delivered).await;
                SenderDone::Relayed { id, result }
            }),
            Output::Push {
                peer,
                request,
                pubsub_topic,
                message,
                ..
            } => {
                let identity = self.peers.identity(peer);
                let version = self.peers.lightpush_version(peer);
                self.spawn(async move {
                    let answer = match identity {
                        Some(peer) => {
                            let pushing = work.push(peer, version, &pubsub_topic, &message);
                            pushing.await
                        }
                        None => Err(PushFailure::NoPeers),
                    };
                    SenderDone::Pushed { request, answer }
                });
            }
            Output::Connect(OWN_ARCHIVE) => self.input(Input::Connected(OWN_ARCHIVE)),
            Output::Connect(peer) => self.peers.connect(peer),
            Output::History {
                peer,
                request,
                query,
            } => {
                let identity = self.peers.identity(peer);
                self.spawn(async move {
                    let answer = match identity {
                        _ if peer == OWN_ARCHIVE => work.ask_archive(query).await,
                        Some(peer) => work.ask_peer(peer, &query).await,
                        None => Err(ServicePeerFailure::NoAnswer),
                    };
                    SenderDone::History { request, answer }
                });
            }
            // Numbers of peers are not reused; the other outputs were carried out before.
            Output::Forgotten(_)
            | Output::Persist { .. }
            | Output::Erase(_)
            | Output::Event(_)
            | Output::GivenUp { .. } => {}
        }
    }

    fn spawn(&self, work: impl Future<Output = SenderDone> + Send + 'static) {
        let done = self.done.clone();
        tokio::spawn(async move {
            // The driver may have ended.
            let _ = done.send(work.await);
        });
    }
}
