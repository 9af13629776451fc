//! Own messages and what has become of them.

use std::collections::VecDeque;

use undertone_message::MessageHash;
use undertone_node::command::{Post, PostState, PublishFailure};

#[cfg(test)]
mod tests;

/// Own messages whose state is followed; the oldest are forgotten.
const KNOWN_MAX: usize = 256;

/// State of an own message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OwnState {
    /// A proof is being made, or the message is being sent.
    Sending,
    /// No peer that carries the room is connected yet; the message is sent when one is.
    Waiting,
    /// Peers took it.
    Sent {
        /// Number of peers.
        peers: usize,
        /// Hash by which others know the message.
        hash: MessageHash,
    },
    /// A store keeps it.
    Stored {
        /// Hash by which the store knows it.
        hash: MessageHash,
    },
    /// No peer came before others would have found the message too old.
    Expired,
    /// The message was not sent.
    Failed {
        /// Reason, in plain words.
        reason: String,
    },
}

impl OwnState {
    /// Whether no further change is expected, except that a store keeps it.
    pub(super) fn is_settled(&self) -> bool {
        !matches!(self, Self::Sending | Self::Waiting)
    }

    /// Name of the state in JSON.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Waiting => "waiting",
            Self::Sent { .. } => "sent",
            Self::Stored { .. } => "stored",
            Self::Expired => "expired",
            Self::Failed { .. } => "failed",
        }
    }

    /// The state in plain words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Sending => "sending".to_owned(),
            Self::Waiting => "waiting for a peer that carries this room".to_owned(),
            Self::Sent { peers: 1, .. } => "sent to 1 peer".to_owned(),
            Self::Sent { peers, .. } => format!("sent to {peers} peers"),
            Self::Stored { .. } => "stored".to_owned(),
            Self::Expired => "not sent: no peer came in time".to_owned(),
            Self::Failed { reason } => format!("not sent: {reason}"),
        }
    }
}

impl From<&PostState> for OwnState {
    fn from(state: &PostState) -> Self {
        match state {
            PostState::Waiting => Self::Waiting,
            PostState::Sent { peers, hash } => Self::Sent {
                peers: *peers,
                hash: *hash,
            },
            PostState::Expired => Self::Expired,
            PostState::Failed { reason } => Self::Failed {
                reason: words(reason),
            },
            // A state that this program does not know is one on the way to another.
            _ => Self::Sending,
        }
    }
}

/// A failure in the words of people; the node's own are those of the REST interface.
pub(super) fn words(failure: &PublishFailure) -> String {
    match failure {
        PublishFailure::Duplicate => "the same message was sent just now".to_owned(),
        PublishFailure::TooLarge {
            size_bytes,
            max_bytes,
        } => format!("{size_bytes} bytes; the network carries at most {max_bytes}"),
        PublishFailure::RlnProof { reason } => format!("no proof: {reason}"),
        PublishFailure::RateLimit { limit, resets_in_s } => format!(
            "all {limit} messages of this epoch are used up; the next epoch starts in {resets_in_s} s"
        ),
        PublishFailure::NoPeers => "no peer took it".to_owned(),
        PublishFailure::Timeout => "it took too long".to_owned(),
        failure => failure.to_string(),
    }
}

#[derive(Debug)]
struct OwnMessage {
    number: u64,
    /// Number of the post at the node, once it has one.
    post: Option<u64>,
    state: OwnState,
}

/// The own messages of this chat, numbered from 1.
#[derive(Debug, Default)]
pub(super) struct OwnMessages {
    messages: VecDeque<OwnMessage>,
    last: u64,
}

impl OwnMessages {
    /// Begins a message and returns its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.last += 1;
        if self.messages.len() == KNOWN_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(OwnMessage {
            number: self.last,
            post: None,
            state: OwnState::Sending,
        });
        self.last
    }

    /// Number of messages whose fate is open.
    pub(super) fn open(&self) -> usize {
        let open = self.messages.iter().filter(|own| !own.state.is_settled());
        open.count()
    }

    /// Whether a message waits for a peer, so that the node must be asked about it.
    pub(super) fn has_waiting(&self) -> bool {
        let mut waiting = self.messages.iter();
        waiting.any(|own| !own.state.is_settled() && own.post.is_some())
    }

    /// Takes the node's first answer about a message; returns its state if that is new.
    pub(super) fn answered(
        &mut self,
        number: u64,
        answer: &Result<Post, PublishFailure>,
    ) -> Option<OwnState> {
        let own = self.messages.iter_mut().find(|own| own.number == number)?;
        let state = match answer {
            Ok(post) => {
                own.post = Some(post.id);
                OwnState::from(&post.state)
            }
            Err(failure) => OwnState::Failed {
                reason: words(failure),
            },
        };
        own.change(state)
    }

    /// Takes the node's list of posts; returns the messages whose state is new.
    pub(super) fn look(&mut self, posts: &[Post]) -> Vec<(u64, OwnState)> {
        let mut changed = Vec::new();
        for own in &mut self.messages {
            if own.state.is_settled() {
                continue;
            }
            let post = own
                .post
                .and_then(|id| posts.iter().find(|post| post.id == id));
            let state = post.and_then(|post| own.change(OwnState::from(&post.state)));
            changed.extend(state.map(|state| (own.number, state)));
        }
        changed
    }

    /// Hashes of messages that were sent and that no store is known to keep.
    pub(super) fn unstored(&self) -> Vec<MessageHash> {
        let hash = |own: &OwnMessage| match own.state {
            OwnState::Sent { hash, .. } => Some(hash),
            _ => None,
        };
        self.messages.iter().filter_map(hash).collect()
    }

    /// Takes hashes that a store keeps; returns the messages whose state is new.
    pub(super) fn stored(&mut self, hashes: &[MessageHash]) -> Vec<(u64, OwnState)> {
        let mut changed = Vec::new();
        for own in &mut self.messages {
            if let OwnState::Sent { hash, .. } = own.state
                && hashes.contains(&hash)
            {
                let state = own.change(OwnState::Stored { hash });
                changed.extend(state.map(|state| (own.number, state)));
            }
        }
        changed
    }
}

impl OwnMessage {
    fn change(&mut self, state: OwnState) -> Option<OwnState> {
        if self.state == state {
            return None;
        }
        self.state = state.clone();
        Some(state)
    }
}
