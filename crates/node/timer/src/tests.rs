use std::future::poll_fn;
use std::pin::pin;

use super::*;

const S: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_delay_ends_after_its_time_and_stays_ended() {
    let start = Instant::now();
    let mut delay = pin!(Delay::new(3 * S));
    delay.as_mut().await;
    let took = start.elapsed();
    assert!((3 * S..4 * S).contains(&took), "{took:?}");
    let again = poll_fn(|context| Poll::Ready(delay.as_mut().poll(context))).await;
    assert!(again.is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_is_reset_counts_from_then() {
    let start = Instant::now();
    let mut delay = Delay::new(10 * S);
    // Not polled yet.
    delay.reset(2 * S);
    (&mut delay).await;
    assert_eq!(start.elapsed().as_secs(), 2);
    // Ended.
    delay.reset(5 * S);
    (&mut delay).await;
    assert_eq!(start.elapsed().as_secs(), 7);
    // Under way, to an earlier and to a later end.
    for (first, then, at_s) in [(100, 1, 8), (1, 4, 12)] {
        delay.reset(first * S);
        let polled = poll_fn(|context| Poll::Ready(Pin::new(&mut delay).poll(context))).await;
        assert!(polled.is_pending());
        delay.reset(then * S);
        (&mut delay).await;
        assert_eq!(start.elapsed().as_secs(), at_s);
    }
}

/// libp2p makes timers wherever it makes its behaviours, and moves them to the tasks of connections.
#[test]
fn a_delay_may_be_made_outside_of_a_runtime_and_moved_between_tasks() {
    let delay = Delay::new(Duration::from_millis(20));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut delay = Box::pin(delay);
        let _ = poll_fn(|context| Poll::Ready(delay.as_mut().poll(context))).await;
        // The task that polls last is the one that is woken.
        tokio::spawn(delay).await.unwrap();
    });
}

#[tokio::test]
async fn the_longest_wait_does_not_overflow() {
    let mut delay = pin!(Delay::new(Duration::MAX));
    let polled = poll_fn(|context| Poll::Ready(delay.as_mut().poll(context))).await;
    assert!(polled.is_pending());
}
