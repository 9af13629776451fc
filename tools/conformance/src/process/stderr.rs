use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// Number of bytes kept from the end of standard error.
const KEPT_BYTES: usize = 16 << 10;
/// Time limit for the pipe to close: a grandchild can hold it open after the peer has ended.
const GRACE: Duration = Duration::from_secs(1);

/// End of a process's standard error.
#[derive(Clone, Debug)]
pub(super) struct Stderr {
    kept: Arc<Mutex<VecDeque<u8>>>,
    ended: watch::Sender<bool>,
}

impl Default for Stderr {
    fn default() -> Self {
        Self {
            kept: Arc::default(),
            ended: watch::Sender::new(false),
        }
    }
}

impl Stderr {
    pub(super) async fn collect(self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = [0_u8; 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let mut kept = self.kept.lock();
            kept.extend(&chunk[..length]);
            let surplus = kept.len().saturating_sub(KEPT_BYTES);
            kept.drain(..surplus);
        }
        self.ended.send_replace(true);
    }

    /// Waits until the process has closed the pipe, for at most [`GRACE`].
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // Even after a timeout, the text collected so far is shown.
        drop(timeout(GRACE, ended.wait_for(|&ended| ended)).await);
    }

    pub(super) fn text(&self) -> String {
        let kept: Vec<u8> = self.kept.lock().iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }
}
