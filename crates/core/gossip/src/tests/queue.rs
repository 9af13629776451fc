//! The send queue compared with a model that searches a list.

use bytes::Bytes;
use proptest::prelude::*;

use crate::{Class, Overflow, QueueLimits, QueuedFrame, SendHandle, SendQueue};

const LIMITS: QueueLimits = QueueLimits {
    control_max: 3,
    publish_max: 4,
    forward_max: 5,
    bytes_max: 60,
};

#[derive(Clone, Debug)]
enum Op {
    Push(Class, usize),
    Pop,
    /// Cancels the n-th frame pushed.
    Cancel(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let class = prop_oneof![
        Just(Class::Control),
        Just(Class::Publish),
        Just(Class::Forward)
    ];
    prop_oneof![
        4 => (class, 0usize..20).prop_map(|(class, len)| Op::Push(class, len)),
        2 => Just(Op::Pop),
        1 => (0u64..60).prop_map(Op::Cancel),
    ]
}

/// Frames of all classes in the order in which they were pushed.
#[derive(Default)]
struct Naive(Vec<QueuedFrame>);

impl Naive {
    fn of(&self, class: Class) -> usize {
        self.0.iter().filter(|queued| queued.class == class).count()
    }

    fn message_bytes(&self) -> usize {
        let messages = self
            .0
            .iter()
            .filter(|queued| queued.class != Class::Control);
        messages.map(|queued| queued.frame.len()).sum()
    }

    fn push(&mut self, queued: QueuedFrame) -> Result<(), Overflow> {
        let (max, overflow) = match queued.class {
            Class::Control => (LIMITS.control_max, Overflow::Control),
            Class::Publish => (LIMITS.publish_max, Overflow::Message),
            Class::Forward => (LIMITS.forward_max, Overflow::Message),
        };
        let message = queued.class != Class::Control;
        let heavy = message && self.message_bytes() + queued.frame.len() > LIMITS.bytes_max;
        if self.of(queued.class) == max || heavy {
            return Err(overflow);
        }
        self.0.push(queued);
        Ok(())
    }

    fn pop(&mut self) -> Option<QueuedFrame> {
        let first = |class| self.0.iter().position(|queued| queued.class == class);
        let classes = [Class::Control, Class::Publish, Class::Forward];
        let at = classes.into_iter().find_map(first)?;
        Some(self.0.remove(at))
    }

    fn cancel(&mut self, handle: SendHandle) -> bool {
        let waiting = self.0.len();
        self.0
            .retain(|queued| queued.handle != handle || queued.class == Class::Control);
        self.0.len() < waiting
    }
}

proptest! {
    #[test]
    fn behaves_like_the_naive_list(ops in prop::collection::vec(op(), 0..80)) {
        let (mut queue, mut naive) = (SendQueue::new(LIMITS), Naive::default());
        for (n, op) in (0..).zip(ops) {
            match op {
                Op::Push(class, len) => {
                    let (handle, frame) = (SendHandle(n), Bytes::from(vec![n as u8; len]));
                    let queued = QueuedFrame { handle, class, frame };
                    prop_assert_eq!(queue.push(queued.clone()), naive.push(queued));
                }
                Op::Pop => prop_assert_eq!(queue.pop(), naive.pop()),
                Op::Cancel(n) => {
                    let handle = SendHandle(n);
                    prop_assert_eq!(queue.cancel(handle), naive.cancel(handle));
                }
            }
            prop_assert_eq!(queue.len(), naive.0.len());
            prop_assert_eq!(queue.is_empty(), naive.0.is_empty());
            prop_assert_eq!(queue.message_bytes(), naive.message_bytes());
        }
        while let Some(next) = naive.pop() {
            prop_assert_eq!(queue.pop(), Some(next));
        }
        prop_assert_eq!(queue.pop(), None);
    }
}

#[test]
fn control_passes_messages_and_cannot_be_cancelled() {
    let mut queue = SendQueue::default();
    let classes = [
        Class::Forward,
        Class::Publish,
        Class::Control,
        Class::Forward,
    ];
    for (n, class) in (0..).zip(classes) {
        let (handle, frame) = (SendHandle(n), Bytes::from_static(b"f"));
        queue
            .push(QueuedFrame {
                handle,
                class,
                frame,
            })
            .unwrap();
    }
    assert!(!queue.cancel(SendHandle(2)) && queue.cancel(SendHandle(0)));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop())
        .map(|queued| queued.handle.0)
        .collect();
    assert_eq!(order, [2, 1, 3]);
}
