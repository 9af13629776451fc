use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

#[test]
fn a_place_writes_its_share_in_a_minute_and_then_says_what_was_left_out() {
    let mut share = LineShare::default();
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    for line in 0..LINES_MAX {
        assert_eq!(share.line(at(u64::from(line) / 2)), LineVerdict::Written);
    }
    for _ in 0..1000 {
        assert_eq!(share.line(at(59)), LineVerdict::LeftOut);
    }
    assert_eq!(share.line(at(60)), LineVerdict::WrittenAfter(1000));
    assert_eq!(share.line(at(61)), LineVerdict::Written);
}

/// Layer that counts what reaches the log.
struct Counted(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Counted {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn ever_new_peers_do_not_fill_the_log_and_keep_nothing_else_out_of_it() {
    let lines = Arc::new(AtomicUsize::new(0));
    let counted = Counted(Arc::clone(&lines));
    let subscriber = tracing_subscriber::registry()
        .with(counted)
        .with(LineShares::default());
    tracing::subscriber::with_default(subscriber, || {
        for peer in 0..10_000 {
            tracing::info!(peer, "disconnecting a peer");
        }
        assert_eq!(lines.load(Ordering::Relaxed), LINES_MAX as usize);
        tracing::info!("listening");
        for peer in 0..100 {
            tracing::debug!(peer, "ping");
        }
    });
    assert_eq!(lines.load(Ordering::Relaxed), LINES_MAX as usize + 101);
}
