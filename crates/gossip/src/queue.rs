//! The outbound queue of one peer: control before data, bounded, cancellable until a frame begins.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::io::Class;
use crate::types::SendHandle;

/// Bounds of a [`SendQueue`]. nim-libp2p's counts, and bytes on top: a count alone would let one
/// slow peer hold a gigabyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Control frames; a peer that lets more pile up is not reading at all.
    pub control_max: usize,
    /// Own messages.
    pub publish_max: usize,
    /// Forwarded messages.
    pub forward_max: usize,
    /// Bytes of messages, own and forwarded.
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

/// What happened to a frame that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Control piled up: the connection is to be closed.
    Control,
    /// The message was dropped.
    Message,
}

/// A frame that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedFrame {
    /// Its name.
    pub handle: SendHandle,
    /// Its class.
    pub class: Class,
    /// Its bytes.
    pub frame: Bytes,
}

/// The queue.
#[derive(Debug, Default)]
pub struct SendQueue {
    limits: QueueLimits,
    control: VecDeque<QueuedFrame>,
    publish: VecDeque<QueuedFrame>,
    forward: VecDeque<QueuedFrame>,
    message_bytes: usize,
}

impl SendQueue {
    /// An empty queue.
    pub fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Appends a frame to its class.
    ///
    /// # Errors
    /// [`Overflow`] when it does not fit; the frame is then gone.
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

    /// Takes the frame to send next.
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

    /// Bytes of the frame to send next.
    pub fn next_len(&self) -> Option<usize> {
        let next = self.control.front().or(self.publish.front());
        next.or(self.forward.front()).map(|next| next.frame.len())
    }

    /// Drops a frame that still waits. Returns whether there was one.
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

    /// Drops all control that waits: a peer whose session is new is told anew.
    pub fn drop_control(&mut self) {
        self.control.clear();
    }

    /// Frames that wait.
    pub fn len(&self) -> usize {
        self.control.len() + self.publish.len() + self.forward.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of messages that wait.
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }
}
