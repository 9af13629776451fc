//! Events of the relay and of the rate-limiting threads: counted, logged and handled.

use std::time::Instant;

use undertone_gossip as gossip;
use undertone_relay::{Input, RelayReport};

use super::event_loop::EventLoop;
use super::events::NodeEvent;
use super::rln::RlnEvent;

impl EventLoop {
    /// Counts, logs and passes on an event of the relay.
    pub(super) fn report(&mut self, report: RelayReport) {
        match report {
            RelayReport::Rejected { id, from, reason } => {
                *self.totals.rejected.entry(reason.label()).or_default() += 1;
                self.traces
                    .rejected(&id, self.peers.identity(from), reason.label());
                if let Some(from) = self.peers.identity(from) {
                    tracing::debug!(%from, %reason, "message rejected");
                    self.outward.event(NodeEvent::Rejected { from, reason });
                }
            }
            RelayReport::SpammerExposed {
                from,
                epoch,
                secret,
            } => {
                self.totals.spammers += 1;
                if let Some(rln) = &mut self.rln
                    && rln.is_own_secret(epoch, &secret)
                {
                    tracing::error!(
                        %epoch,
                        "two nodes published with this node's identity under one message id: its secret \
                         is public now; nothing more is published in this epoch; stop one of the nodes \
                         and register a new identity"
                    );
                }
                if let Some(from) = self.peers.identity(from) {
                    tracing::warn!(%from, %epoch, "a member exceeded its limit; secret recovered");
                    self.outward
                        .event(NodeEvent::SpammerExposed { from, secret });
                }
            }
            RelayReport::Gossip(gossip::Report::Subscribed {
                peer,
                topic,
                subscribed,
            }) => {
                let peers = &mut self.peers;
                self.shards
                    .note_subscription(peers, peer, &topic, subscribed);
            }
            RelayReport::Gossip(report) => tracing::trace!(?report, "gossip"),
            other => tracing::trace!(?other, "relay"),
        }
    }

    /// Handles a message from the rate-limiting threads.
    pub(super) fn on_rln_event(&mut self, event: RlnEvent) {
        match event {
            RlnEvent::Verified {
                ticket,
                from,
                valid,
            } => {
                self.traces.verdict(ticket);
                self.input(Input::ProofVerified { ticket, valid });
                self.traces.verdict_settled();
                if let Some(rln) = &self.rln {
                    rln.verdict_settled(from);
                }
            }
            RlnEvent::Proved { request, result } => {
                if self.proved_for_sender(request, &result) {
                    return;
                }
                if let Some(asked) = self.publishing.proved(request)
                    && result.is_ok()
                {
                    self.traces.proved(request, asked);
                    self.outward.event(NodeEvent::Proved {
                        asked,
                        made: Instant::now(),
                    });
                }
                self.input(Input::Proved {
                    request,
                    result: *result,
                });
            }
            RlnEvent::IsTaken {
                epoch,
                nullifier,
                reply,
            } => {
                // The thread that asked may have ended.
                let _ = reply.send(self.relay.knows_nullifier(epoch, nullifier));
            }
            RlnEvent::Skipped { epoch, ids, before } => {
                if let Some(rln) = &mut self.rln {
                    rln.count_taken(ids);
                }
                tracing::warn!(
                    %epoch,
                    ids = ids.saturating_add(before),
                    "another node publishes with this node's identity, or did so before a backup was \
                     restored: message ids that it used are skipped; run one node for each identity"
                );
            }
            RlnEvent::Membership { roots, now } => {
                if let Some(rln) = &mut self.rln {
                    rln.set_membership(now);
                }
                self.input(Input::Roots(roots));
            }
            RlnEvent::Joined(source) => {
                let Some(rln) = &mut self.rln else { return };
                match rln.start_publisher(source) {
                    Ok(()) => tracing::info!("this node is a member now and can publish"),
                    Err(error) => tracing::error!(%error, "cannot start a thread for proofs"),
                }
            }
            RlnEvent::Left => {
                tracing::warn!("this node's membership has ended or moved");
                if let Some(rln) = &mut self.rln {
                    rln.drop_publisher();
                }
            }
        }
    }
}
