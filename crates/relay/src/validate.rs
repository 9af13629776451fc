//! Judging a message, cheap checks first.

use bytes::Bytes;
use undertone_gossip::{ApiMisuse, MessageId, PeerIx, Topic, Verdict};
use undertone_message::{Limits, WakuMessage};
use undertone_rln::{CheckedProof, RateLimitProof, Seen, check::check, signal_hash};

use crate::checks::{Check, Purpose};
use crate::config::RlnConfig;
use crate::io::{Output, ProofTicket, Rejection, RelayReport};
use crate::relay::{Accepted, Relay};

impl Relay {
    /// Everything up to the proof: a verdict, or `None` while the proof is being checked.
    pub(crate) fn validate(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> Option<Verdict> {
        let judged = self.judge(id, from, topic, data);
        match judged {
            Ok(Step::Accept(message)) => Some(self.accept(id, *message)),
            Ok(Step::Wait) => None,
            Err(reason) => Some(self.reject(id, from, reason)),
        }
    }

    fn judge(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> Result<Step, Rejection> {
        let max = self.config.max_message_bytes;
        if data.len() > max {
            return Err(Rejection::TooLarge {
                len: data.len(),
                max,
            });
        }
        let limits = Limits {
            max_message_bytes: max,
            ..Limits::default()
        };
        let message = WakuMessage::decode_with(data, &limits).map_err(Rejection::Decode)?;
        let joined = self.topics.get(topic).ok_or(Rejection::WrongShard)?;
        if !self.is_in_network(joined) {
            return Err(Rejection::WrongShard);
        }
        let Some(rln) = &self.config.rln else {
            return Ok(Step::Accept(Box::new(message)));
        };
        let proof = self.check_proof(rln, &message)?;
        match self
            .nullifiers
            .check(proof.epoch, proof.nullifier, proof.x, proof.y)
        {
            Seen::New => {}
            Seen::Duplicate => return Err(Rejection::Duplicate),
            Seen::Spam { .. } => {
                // Dropped without a pairing; the secret counts only once this proof is verified.
                self.verify(id, from, proof, Purpose::Evidence);
                return Err(Rejection::Spam);
            }
        }
        if self.checks.is_full() {
            return Err(Rejection::Capacity);
        }
        self.verify(id, from, proof, Purpose::Judge(Box::new(message)));
        Ok(Step::Wait)
    }

    fn check_proof(
        &self,
        rln: &RlnConfig,
        message: &WakuMessage,
    ) -> Result<CheckedProof, Rejection> {
        let field = message
            .rate_limit_proof
            .as_ref()
            .filter(|field| !field.is_empty());
        let field = field.ok_or(Rejection::MissingProof)?;
        let proof = RateLimitProof::decode(field).map_err(Rejection::MalformedProof)?;
        let timestamp_ns = message.timestamp_ns();
        let x = signal_hash(&message.payload, &message.content_topic, timestamp_ns);
        check(
            &rln.policy,
            &self.roots,
            self.unix_now_ns(),
            timestamp_ns,
            x,
            &proof,
        )
        .map_err(Rejection::Proof)
    }

    /// Has a proof checked, if there is room.
    fn verify(&mut self, id: MessageId, from: PeerIx, proof: CheckedProof, purpose: Purpose) {
        if self.checks.is_full() {
            return;
        }
        let statement = Box::new(proof.statement.clone());
        let ticket = self.checks.begin(Check {
            id,
            from,
            proof,
            purpose,
        });
        self.output(Output::VerifyProof { ticket, statement });
    }

    /// The driver's answer. One that is not waited for is ignored.
    pub(crate) fn proof_verified(
        &mut self,
        ticket: ProofTicket,
        valid: bool,
    ) -> Result<(), ApiMisuse> {
        let Some(Check {
            id,
            from,
            proof,
            purpose,
        }) = self.checks.finish(ticket)
        else {
            return Ok(());
        };
        match purpose {
            Purpose::Evidence => {
                if valid {
                    self.expose(from, &proof);
                }
                Ok(())
            }
            Purpose::Judge(message) => {
                let verdict = match self.log(from, &proof, valid) {
                    Ok(()) => self.accept(id, *message),
                    Err(reason) => self.reject(id, from, reason),
                };
                self.verdict(id, verdict)
            }
        }
    }

    /// Logs the nullifier of a proof that holds. Another message with it may have been logged
    /// while this one was checked, so this decides, not the look before.
    fn log(&mut self, from: PeerIx, proof: &CheckedProof, valid: bool) -> Result<(), Rejection> {
        if !valid {
            return Err(Rejection::Snark);
        }
        match self
            .nullifiers
            .insert(proof.epoch, proof.nullifier, proof.x, proof.y)
        {
            Ok(Seen::New) => Ok(()),
            Ok(Seen::Duplicate) => Err(Rejection::Duplicate),
            Ok(Seen::Spam { .. }) => {
                self.expose(from, proof);
                Err(Rejection::Spam)
            }
            Err(_full) => Err(Rejection::Capacity),
        }
    }

    /// Both proofs hold: the secret computed from their shares is the spammer's.
    fn expose(&mut self, from: PeerIx, proof: &CheckedProof) {
        let seen = self
            .nullifiers
            .check(proof.epoch, proof.nullifier, proof.x, proof.y);
        if let Seen::Spam { secret } = seen {
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

    fn reject(&mut self, id: MessageId, from: PeerIx, reason: Rejection) -> Verdict {
        self.output(Output::Report(RelayReport::Rejected { id, from, reason }));
        if reason.is_blamed() {
            Verdict::Reject
        } else {
            Verdict::Ignore
        }
    }
}

enum Step {
    Accept(Box<WakuMessage>),
    Wait,
}
