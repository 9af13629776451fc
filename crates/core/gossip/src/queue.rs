//! The outbound queue of one peer: control before messages, bounded, cancellable until a frame is started.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::io::Class;
use crate::types::SendHandle;

/// Limits of a [`SendQueue`]. The counts are nim-libp2p's; the limit in bytes is added because with counts
/// alone one slow peer could hold a gigabyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueLimits {
    /// Maximum number of control frames; a peer that lets more accumulate is not reading at all.
    pub control_max: usize,
    /// Maximum number of messages published by this node.
    pub publish_max: usize,
    /// Maximum number of forwarded messages.
    pub forward_max: usize,
    /// Maximum bytes of messages, published and forwarded together.
    pub bytes_max: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            control_max: 256,
            publish_max: 512,
            forward_max: 1024,
            bytes_max: 32 << 20,
        }
    }
}

/// Returned when a frame does not fit the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The limit on control frames was reached: the driver should close the connection.
    Control,
    /// The message did not fit and was dropped.
    Message,
}

/// A frame waiting in a [`SendQueue`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedFrame {
    /// Handle of the frame, for cancelling it.
    pub handle: SendHandle,
    /// Priority class of the frame.
    pub class: Class,
    /// Bytes of the frame, with its length prefix.
    pub frame: Bytes,
}

/// The outbound queue of one peer.
#[derive(Debug, Default)]
pub struct SendQueue {
    limits: QueueLimits,
    control: VecDeque<QueuedFrame>,
    publish: VecDeque<QueuedFrame>,
    forward: VecDeque<QueuedFrame>,
    message_bytes: usize,
}

impl SendQueue {
    /// Creates an empty queue with these limits.
    pub fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Appends a frame to the queue of its class.
    ///
    /// # Errors
    /// Returns [`Overflow`] when the frame does not fit; the frame is then dropped.
    pub fn push(&mut self, queued: QueuedFrame) -> Result<(), Overflow> {
        let len = queued.frame.len();
        let (queue, max) = match queued.class {
            Class::Control => {
                if self.control.len() >= self.limits.control_max {
                    return Err(Overflow::Control);
                }
                self.control.push_back(queued);
                return Ok(());
            }
            Class::Publish => (&mut self.publish, self.limits.publish_max),
            Class::Forward => (&mut self.forward, self.limits.forward_max),
        };
        if queue.len() >= max || self.message_bytes + len > self.limits.bytes_max {
            return Err(Overflow::Message);
        }
        self.message_bytes += len;
        queue.push_back(queued);
        Ok(())
    }

    /// Removes and returns the frame to send next.
    pub fn pop(&mut self) -> Option<QueuedFrame> {
        if let Some(control) = self.control.pop_front() {
            return Some(control);
        }
        let message = self
            .publish
            .pop_front()
            .or_else(|| self.forward.pop_front())?;
        self.message_bytes -= message.frame.len();
        Some(message)
    }

    /// Length of the frame to send next, bytes.
    pub fn next_len(&self) -> Option<usize> {
        let next = self.control.front().or(self.publish.front());
        next.or(self.forward.front()).map(|next| next.frame.len())
    }

    /// Removes a waiting message; control frames cannot be cancelled. Returns whether the message was found.
    pub fn cancel(&mut self, handle: SendHandle) -> bool {
        for queue in [&mut self.forward, &mut self.publish] {
            if let Some(at) = queue.iter().position(|queued| queued.handle == handle)
                && let Some(cancelled) = queue.remove(at)
            {
                self.message_bytes -= cancelled.frame.len();
                return true;
            }
        }
        false
    }

    /// Drops all waiting control frames: on a new session the peer gets its control entries again.
    pub fn drop_control(&mut self) {
        self.control.clear();
    }

    /// Number of frames waiting in the queue.
    pub fn len(&self) -> usize {
        self.control.len() + self.publish.len() + self.forward.len()
    }

    /// Whether no frame is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of messages waiting in the queue, control frames excluded.
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }
}
