//! Messages whose proof the driver requests itself, and which it may publish more than once.
//!
//! A driver that tracks delivery keeps each message with its proof, and passes it to the router again when nobody got
//! it. The bytes are the same, so neighbours that have the message recognise the copy.

use undertone_gossip::{ApiMisuse, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr, NullifierStatus};

use crate::checks::Proving;
use crate::io::PublishError;
use crate::publish::unused;
use crate::rejection::Rejection;
use crate::relay::Relay;

impl Relay {
    /// Checks a message to be published later. Without a timestamp it counts as a message of now.
    ///
    /// # Errors
    /// The [`PublishError`] with which publishing it now would fail, apart from a missing proof or lack of room.
    pub fn check_message(
        &self,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<(), PublishError> {
        if message.timestamp_ns() != 0 {
            return self.well_formed(topic, message);
        }
        let mut stamped = message.clone();
        stamped.timestamp = Some(i64::try_from(self.unix_now_ns()).unwrap_or(i64::MAX));
        self.well_formed(topic, &stamped)
    }

    /// Returns what a proof for a message with a timestamp must contain: the epoch, and the signal hash. `None` on a
    /// network without RLN.
    ///
    /// # Errors
    /// [`PublishError`] for a message that receivers would refuse: no message id should be spent on it.
    pub fn proof_statement(
        &mut self,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<Option<(Epoch, Fr)>, PublishError> {
        self.well_formed(topic, message)?;
        let Some(rln) = &self.config.rln else {
            return Ok(None);
        };
        // Epoch of the timestamp, because receivers compare the epoch with it.
        let time_ns = u64::try_from(message.timestamp_ns()).unwrap_or(0);
        let epoch = Epoch::at(time_ns, rln.policy.epoch_size_s);
        Ok(Some((epoch, self.signals.hash_of(message))))
    }

    /// Whether receivers with this node's knowledge would accept the proof of one of its messages: its epoch and its
    /// root are recent, and no other message has its nullifier. The zero-knowledge proof itself is not verified.
    pub fn is_own_proof_good(&mut self, message: &WakuMessage) -> bool {
        let checked = self.check_proof(message);
        checked.is_ok_and(|proof| !matches!(self.look_up(&proof), NullifierStatus::Spam { .. }))
    }

    pub(crate) fn republish(
        &mut self,
        topic: PubsubTopic,
        message: WakuMessage,
        request: RequestId,
    ) -> Result<(), ApiMisuse> {
        if !self.router.knows(&message.encode().into()) {
            return self.publish(topic, message, request);
        }
        let refused = match self.publishable(&topic, &message) {
            Err(error) => Some(error),
            Ok(()) if self.config.rln.is_none() => None,
            Ok(()) => {
                let checked = self.check_proof(&message);
                let seen = checked.map(|proof| self.look_up(&proof));
                match seen.and_then(|seen| unused(&seen)) {
                    // The nullifier is in the log because of this very message.
                    Ok(()) | Err(Rejection::Duplicate) => None,
                    Err(reason) => Some(PublishError::InvalidProof(reason)),
                }
            }
        };
        if let Some(error) = refused {
            self.refuse(request, error);
            return Ok(());
        }
        let proving = Proving {
            topic,
            message,
            is_repeated: true,
        };
        self.proving.insert(request, proving);
        self.send_own(request, None)
    }
}
