//! Session of reconciliation: one side of the exchange that finds the messages each of two sets lacks.
//!
//! The answer to a range depends on what the peer sends for it:
//! - a fingerprint equal to ours: skip;
//! - a fingerprint that differs from ours by exactly the hash of one of our messages: the peer lacks that
//!   message, and we list it; likewise all of ours, if the peer has none;
//! - another fingerprint: if few ranges differ, the peer most likely has one message more, which it finds itself
//!   from our fingerprint of the same range; else we split the range, or list our messages if they are few;
//! - messages: those that only one side has are listed, in ranges as narrow as possible.
//!
//! nwaku understands every answer, and the answers cover the whole range whatever nwaku does with it.

use std::collections::BTreeSet;

use thiserror::Error;

use super::answer::{PayloadAnswer, Tactics};
use super::set::SetView;
use super::{
    Fingerprint, ItemSet, PayloadError, RangeContent, RangesPayload, SyncId, SyncLimits, SyncRange,
    SyncScope, SyncSet,
};

#[cfg(test)]
mod tests;

/// One side of a session.
///
/// The initiator sends the payload that [`initiate`](Self::initiate) returns. Then either side passes each
/// payload that arrives to [`handle`](Self::handle) and sends the reply, until a [`SyncStep`] is the last one.
#[derive(Debug)]
pub struct Reconciler {
    limits: SyncLimits,
    scope: SyncScope,
    /// Ranges that end at or before this are ignored.
    start: SyncId,
    /// Messages to compare, and the scope by which they were selected.
    view: Option<(SyncScope, SetView)>,
    /// Ranges with fingerprints in the last reply.
    fingerprinted: BTreeSet<(SyncId, SyncId)>,
    /// Messages that the peer lacks.
    lacking: BTreeSet<SyncId>,
    /// Messages that the peer lists and we lack.
    missing: BTreeSet<SyncId>,
    rounds: u32,
    is_last: bool,
}

/// Outcome of one payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncStep {
    /// Payload to write to the stream, without its length prefix.
    pub reply: Option<Vec<u8>>,
    /// Messages that the peer lacks, to be sent by transfer; each is returned once in a session.
    pub to_send: Vec<SyncId>,
    /// Messages that the peer lists and we lack, which it sends by transfer; each is returned once in a session.
    /// Nothing proves that they exist.
    pub to_receive: Vec<SyncId>,
    /// Whether the session ends once the reply is written.
    pub is_last: bool,
}

/// Error that ends a session. The peer is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SyncError {
    /// A payload is malformed.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The session takes more rounds than any honest peer needs.
    #[error("the session takes more than {max} rounds")]
    TooManyRounds {
        /// Maximum number of rounds of a session.
        max: u32,
    },
    /// The peer names more messages than a set may have.
    #[error("the peer names more than {max} messages that are missing here")]
    TooManyMissing {
        /// Maximum number of missing messages.
        max: usize,
    },
    /// A payload came after the last one.
    #[error("a payload came after the end of the session")]
    AfterEnd,
}

impl Reconciler {
    /// Starts a session as the side that waits for the first payload. Messages before `start_ns`, Unix
    /// nanoseconds, are compared only if a range of the peer also covers later ones.
    pub fn respond(scope: SyncScope, start_ns: i64, limits: SyncLimits) -> Self {
        Self {
            limits,
            scope,
            start: bound(start_ns),
            view: None,
            fingerprinted: BTreeSet::new(),
            lacking: BTreeSet::new(),
            missing: BTreeSet::new(),
            rounds: 0,
            is_last: false,
        }
    }

    /// Starts a session about the time from `start_ns` (inclusive) to `end_ns` (exclusive), Unix nanoseconds, and
    /// returns it with its first payload. The end should be some seconds ago; otherwise messages still being
    /// relayed count as missing.
    pub fn initiate(
        set: &SyncSet,
        scope: SyncScope,
        start_ns: i64,
        end_ns: i64,
        limits: SyncLimits,
    ) -> (Self, Vec<u8>) {
        let mut session = Self::respond(scope.clone(), start_ns, limits);
        let (lower, upper) = (session.start, bound(end_ns).max(session.start));
        let view = set.view(&scope);
        let fingerprint = view.fingerprint(lower, upper);
        session.view = Some((scope, view));
        let content = RangeContent::Fingerprint(fingerprint);
        let first = SyncRange {
            lower,
            upper,
            content,
        };
        let payload = session.payload(vec![first]);
        (session, payload)
    }

    /// Handles a payload of the peer. The messages compared are those in `set` when the session begins.
    ///
    /// # Errors
    /// [`SyncError`] when the payload is malformed or the peer exceeds a limit; the stream should be closed.
    pub fn handle(&mut self, set: &SyncSet, payload: &[u8]) -> Result<SyncStep, SyncError> {
        if self.is_last {
            return Err(SyncError::AfterEnd);
        }
        let max = self.limits.max_rounds;
        if self.rounds == max {
            return Err(SyncError::TooManyRounds { max });
        }
        self.rounds += 1;
        let payload = RangesPayload::decode(payload, &self.limits)?;
        let skips = |range: &SyncRange| range.content == RangeContent::Skip;
        if payload.ranges.iter().all(skips) {
            self.is_last = true;
            return Ok(SyncStep {
                is_last: true,
                ..SyncStep::default()
            });
        }
        let Some(scope) = self.scope.intersection(&payload) else {
            return Ok(self.reply(PayloadAnswer::default()));
        };
        let view = match self.view.take() {
            Some((known, view)) if known == scope => view,
            _ => set.view(&scope),
        };
        let answer = self.answer(&view, payload.ranges);
        self.view = Some((scope, view));
        let answer = answer?;
        Ok(self.reply(answer))
    }

    /// Whether the session is over once the last reply is written.
    pub fn is_over(&self) -> bool {
        self.is_last
    }

    /// Returns the number of payloads that the peer has sent.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    fn answer(
        &mut self,
        view: &SetView,
        ranges: Vec<SyncRange>,
    ) -> Result<PayloadAnswer, SyncError> {
        let tactics = Tactics::of(view, &ranges, self.limits.parts);
        let mut answer = PayloadAnswer {
            tactics,
            ..PayloadAnswer::default()
        };
        for range in ranges {
            if range.upper <= self.start {
                continue;
            }
            match range.content {
                RangeContent::Skip => {}
                RangeContent::Fingerprint(theirs) => {
                    self.compare(view, range.lower, range.upper, theirs, &mut answer);
                }
                RangeContent::Items(ref theirs) => {
                    self.merge(view, &range, theirs, &mut answer);
                    self.check_missing(&answer)?;
                }
            }
        }
        Ok(answer)
    }

    /// Answers a fingerprint.
    fn compare(
        &self,
        view: &SetView,
        lower: SyncId,
        upper: SyncId,
        theirs: Fingerprint,
        answer: &mut PayloadAnswer,
    ) {
        let ours = view.fingerprint(lower, upper);
        if ours == theirs {
            return;
        }
        let ids = view.ids(lower, upper);
        if theirs == Fingerprint::EMPTY {
            answer.lacking.extend(ids);
            return answer.items(lower, upper, ids, true);
        }
        let mut difference = ours;
        difference ^= &theirs.0;
        if let Some(id) = ids.iter().find(|id| id.hash.0 == difference.0) {
            answer.lacking.push(*id);
            return answer.narrow(view, lower, upper, *id, *id);
        }
        if ids.len() <= self.limits.max_items {
            return answer.items(lower, upper, ids, false);
        }
        // The peer has answered our fingerprint of the range with its own, so it cannot find the difference
        // either.
        let is_reflected = self.fingerprinted.contains(&(lower, upper));
        if answer.tactics.reflects && !is_reflected {
            return answer.fingerprint(lower, upper, ours);
        }
        self.split(view, lower, upper, answer);
    }

    /// Splits a range into parts of about equal numbers of our messages.
    fn split(&self, view: &SetView, lower: SyncId, upper: SyncId, answer: &mut PayloadAnswer) {
        let ids = view.ids(lower, upper);
        let parts = answer.tactics.parts.max(2);
        let mut bounds = vec![lower];
        for part in 1..parts {
            let at = ids.get(ids.len() * part / parts);
            let bound = at.map_or(lower, |id| SyncId::at(id.time_ns));
            if bounds.last().is_some_and(|last| *last < bound) {
                bounds.push(bound);
            }
        }
        bounds.push(upper);
        if bounds.len() == 2 {
            // All distinguishable messages have the same timestamp, and on the wire a range cannot be bounded
            // within a timestamp.
            return answer.items(lower, upper, ids, false);
        }
        for pair in bounds.windows(2) {
            if let [lower, upper] = *pair {
                let fingerprint = view.fingerprint(lower, upper);
                answer.fingerprint(lower, upper, fingerprint);
            }
        }
    }

    /// Compares our messages of a range with those that the peer lists, and lists those that differ unless the
    /// peer knows them.
    fn merge(
        &self,
        view: &SetView,
        range: &SyncRange,
        theirs: &ItemSet,
        answer: &mut PayloadAnswer,
    ) {
        let mut ours = view.ids(range.lower, range.upper).iter().peekable();
        let mut others = theirs.elements.iter().peekable();
        // First and last of the differing messages since the last common one.
        let mut run: Option<(SyncId, SyncId)> = None;
        loop {
            let id = match (ours.peek(), others.peek()) {
                (None, None) => break,
                (Some(our), Some(other)) if our == other => {
                    ours.next();
                    others.next();
                    if let Some((first, last)) = run.take().filter(|_| !theirs.reconciled) {
                        answer.narrow(view, range.lower, range.upper, first, last);
                    }
                    continue;
                }
                (Some(&&our), other) if other.is_none_or(|&&other| our < other) => {
                    ours.next();
                    answer.lacking.push(our);
                    our
                }
                (_, Some(&&other)) => {
                    others.next();
                    answer.missing.push(other);
                    other
                }
                (Some(_), None) => break,
            };
            run = Some((run.map_or(id, |(first, _)| first), id));
        }
        if let Some((first, last)) = run.filter(|_| !theirs.reconciled) {
            answer.narrow(view, range.lower, range.upper, first, last);
        }
    }

    fn check_missing(&self, answer: &PayloadAnswer) -> Result<(), SyncError> {
        let max = self.limits.max_missing;
        match self.missing.len() + answer.missing.len() > max {
            true => Err(SyncError::TooManyMissing { max }),
            false => Ok(()),
        }
    }

    fn reply(&mut self, answer: PayloadAnswer) -> SyncStep {
        let PayloadAnswer {
            mut lacking,
            mut missing,
            fingerprinted,
            writer,
            ..
        } = answer;
        lacking.retain(|id| self.lacking.insert(*id));
        missing.retain(|id| self.missing.insert(*id));
        self.fingerprinted = fingerprinted;
        let ranges = writer.finish();
        self.is_last = ranges.is_empty();
        SyncStep {
            reply: Some(self.payload(ranges)),
            to_send: lacking,
            to_receive: missing,
            is_last: self.is_last,
        }
    }

    fn payload(&self, ranges: Vec<SyncRange>) -> Vec<u8> {
        let payload = RangesPayload {
            pubsub_topics: self.scope.pubsub_topics.iter().cloned().collect(),
            content_topics: self.scope.content_topics.iter().cloned().collect(),
            ranges,
        };
        payload.encode()
    }
}

/// Returns the range bound for a timestamp, which may be before 1970.
fn bound(time_ns: i64) -> SyncId {
    SyncId::at(u64::try_from(time_ns).unwrap_or(0))
}
