//! Validation of messages, cheap checks first.

use bytes::Bytes;
use undertone_gossip::{ApiMisuse, MessageId, PeerIx, Topic, Verdict};
use undertone_message::{MessageLimits, WakuMessage};
use undertone_rln::{CheckedProof, NullifierStatus, check::check_with};

use crate::checks::{Check, Purpose};
use crate::io::{Output, ProofTicket, RelayReport};
use crate::proof_field::proof_of;
use crate::rejection::Rejection;
use crate::relay::{Accepted, Relay};

impl Relay {
    /// Validates a message up to its proof. Returns `None` while the proof is being verified or the roots
    /// are awaited.
    pub(crate) fn validate(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> Option<Verdict> {
        let judged = self.judge(id, from, topic, data);
        if let Err(reason) = &judged
            && reason.is_unknown_root()
            && self.keep_awaiting_root(id, from, topic, data)
        {
            return None;
        }
        self.settle(id, from, judged)
    }

    /// Returns the verdict for a judgement.
    pub(crate) fn settle(
        &mut self,
        id: MessageId,
        from: PeerIx,
        judged: Result<Judgement, Rejection>,
    ) -> Option<Verdict> {
        match judged {
            Ok(Judgement::Accept(message)) => Some(self.accept(id, *message)),
            Ok(Judgement::Wait) => None,
            Err(reason) => Some(self.reject(id, from, reason)),
        }
    }

    pub(crate) fn judge(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> Result<Judgement, Rejection> {
        let max = self.config.max_message_bytes;
        if data.len() > max {
            return Err(Rejection::TooLarge {
                len: data.len(),
                max,
            });
        }
        let mut limits = MessageLimits::default();
        limits.max_message_bytes = max;
        let message = WakuMessage::decode_with(data, &limits).map_err(Rejection::Decode)?;
        let joined = self.topics.get(topic).ok_or(Rejection::WrongShard)?;
        if !self.is_in_network(joined) {
            return Err(Rejection::WrongShard);
        }
        if self.config.rln.is_none() {
            return Ok(Judgement::Accept(Box::new(message)));
        }
        let proof = self.check_proof(&message)?;
        match self.look_up(&proof) {
            NullifierStatus::New => {}
            NullifierStatus::Duplicate => return Err(Rejection::Duplicate),
            NullifierStatus::Spam { .. } => {
                self.record_sender(&id, from, &proof);
                let reason = self.spam(&id, from, &proof);
                // No pairing for the verdict; the secret is reported only once this proof is verified.
                if self.has_room_for(from) && !self.sent_invalid_proof.contains(&from) {
                    self.verify(proof, Purpose::Evidence { from });
                }
                return Err(reason);
            }
        }
        if !self.has_room_for(from) {
            return Err(Rejection::Capacity);
        }
        self.record_sender(&id, from, &proof);
        let message = Box::new(message);
        self.verify(proof, Purpose::Judge { id, from, message });
        Ok(Judgement::Wait)
    }

    /// Looks up the nullifier of a proof in the log.
    pub(crate) fn look_up(&self, proof: &CheckedProof) -> NullifierStatus {
        self.nullifiers
            .check(proof.epoch, proof.nullifier, proof.x, proof.y)
    }

    /// Returns the peer that sent the first copy of a message, which alone is blamed if the message is spam.
    /// It is `from` unless the message was attributed to another sender while it waited.
    fn first_sender(&self, id: &MessageId, from: PeerIx) -> PeerIx {
        self.router.first_sender(id).unwrap_or(from)
    }

    /// Records the sender of a message under the nullifier of its proof.
    fn record_sender(&mut self, id: &MessageId, from: PeerIx, proof: &CheckedProof) {
        let first = self.first_sender(id, from);
        self.nullifier_senders
            .record(proof.epoch, proof.nullifier, first);
    }

    /// Returns the rejection of a message whose nullifier was used for another one.
    fn spam(&self, id: &MessageId, from: PeerIx, proof: &CheckedProof) -> Rejection {
        let first = self.first_sender(id, from);
        let senders = &self.nullifier_senders;
        let repeated = senders.sent_several(proof.epoch, proof.nullifier, first);
        Rejection::Spam { repeated }
    }

    /// Runs every check of a message's proof except the log and the pairing. Returns `MissingProof` on a
    /// network without a rate limit, where there is nothing to check a proof against.
    pub(crate) fn check_proof(&mut self, message: &WakuMessage) -> Result<CheckedProof, Rejection> {
        let rln = self.config.rln.as_ref().ok_or(Rejection::MissingProof)?;
        let proof = proof_of(message)?;
        let x = self.signals.hash_of(message);
        let unix_now_ns = self.unix_now_ns();
        let externals = self.externals.as_ref().ok_or(Rejection::MissingProof)?;
        check_with(
            &rln.policy,
            externals,
            &self.roots,
            unix_now_ns,
            message.timestamp_ns(),
            x,
            &proof,
        )
        .map_err(Rejection::Proof)
    }

    /// Requests verification of a proof. The caller must have checked that there is room.
    pub(crate) fn verify(&mut self, proof: CheckedProof, purpose: Purpose) {
        let statement = Box::new(proof.statement.clone());
        let from = purpose.from();
        let ticket = self.checks.begin(Check { proof, purpose });
        self.output(Output::VerifyProof {
            ticket,
            from,
            statement,
        });
    }

    /// Handles the driver's answer to [`Output::VerifyProof`]; an unexpected one is ignored.
    pub(crate) fn proof_verified(
        &mut self,
        ticket: ProofTicket,
        valid: bool,
    ) -> Result<(), ApiMisuse> {
        let Some(Check { proof, purpose }) = self.checks.finish(ticket) else {
            return Ok(());
        };
        if let Some(from) = purpose.from() {
            self.trust.checked(from, valid, self.now);
            if !valid {
                self.cut.push(from);
            }
        }
        match purpose {
            Purpose::Evidence { from } => {
                if valid {
                    self.report_spammer(from, &proof);
                } else {
                    self.sent_invalid_proof.insert(from);
                }
                Ok(())
            }
            Purpose::Judge { id, from, message } => {
                let verdict = match self.log(&proof, valid) {
                    Ok(NullifierStatus::New) => self.accept(id, *message),
                    Ok(NullifierStatus::Duplicate) => self.reject(id, from, Rejection::Duplicate),
                    Ok(NullifierStatus::Spam { .. }) => {
                        self.report_spammer(from, &proof);
                        let reason = self.spam(&id, from, &proof);
                        self.reject(id, from, reason)
                    }
                    Err(reason) => self.reject(id, from, reason),
                };
                self.verdict(id, verdict)
            }
            Purpose::Own { request, proving } => {
                self.own_verified(request, *proving, &proof, valid)
            }
        }
    }

    /// Logs the nullifier of a valid proof. Another message with it may have been logged during the
    /// verification, so this result decides, not the earlier look-up.
    pub(crate) fn log(
        &mut self,
        proof: &CheckedProof,
        valid: bool,
    ) -> Result<NullifierStatus, Rejection> {
        if !valid {
            return Err(Rejection::Snark);
        }
        Ok(self
            .nullifiers
            .insert(proof.epoch, proof.nullifier, proof.x, proof.y))
    }

    /// Reports a spammer. Both proofs are valid, so the secret computed from their shares is the member's.
    fn report_spammer(&mut self, from: PeerIx, proof: &CheckedProof) {
        if let NullifierStatus::Spam { secret } = self.look_up(proof) {
            let epoch = proof.epoch;
            self.output(Output::Report(RelayReport::SpammerExposed {
                from,
                epoch,
                secret,
            }));
        }
    }

    fn accept(&mut self, id: MessageId, message: WakuMessage) -> Verdict {
        let received = self.received.get(&id).copied().unwrap_or(self.now);
        self.accepted.insert(id, Accepted { message, received });
        Verdict::Accept
    }

    pub(crate) fn reject(&mut self, id: MessageId, from: PeerIx, reason: Rejection) -> Verdict {
        let from = match reason {
            Rejection::Spam { .. } => self.first_sender(&id, from),
            _ => from,
        };
        self.output(Output::Report(RelayReport::Rejected { id, from, reason }));
        match reason {
            _ if reason.is_no_judgement() => Verdict::Forget,
            _ if !reason.is_blamed() => Verdict::Ignore,
            // The peer sent both messages; a neighbour that sent only this one is not to blame.
            Rejection::Spam { .. } => Verdict::RejectFirstSender,
            _ => Verdict::Reject,
        }
    }
}

/// Result of judging a message before its proof is verified.
pub(crate) enum Judgement {
    Accept(Box<WakuMessage>),
    Wait,
}
