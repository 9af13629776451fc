use undertone_rln::RateLimitProof;

use super::*;

/// A source that ends a proof only when told to, and holds a stand-in for the lock on a counter.
struct SlowSource {
    begun: std_mpsc::Sender<()>,
    may_end: std_mpsc::Receiver<()>,
    _lock: Arc<()>,
}

impl ProofSource for SlowSource {
    fn prove(&mut self, _: Epoch, _: Fr) -> Result<RateLimitProof, ProofFailure> {
        self.begun.send(()).unwrap();
        let _ = self.may_end.recv();
        Err(ProofFailure::Synchronizing)
    }

    fn skip_taken(
        &mut self,
        _: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        self.begun.send(()).unwrap();
        Ok(u32::from(is_taken(Fr::from(1))))
    }
}

/// A thread whose source is in the middle of a request, and the test's ends of its channels.
struct InProgress {
    thread: ProofThread,
    events: mpsc::UnboundedReceiver<RlnEvent>,
    let_end: std_mpsc::Sender<()>,
    lock: std::sync::Weak<()>,
}

fn in_progress(skip: SkipTaken) -> InProgress {
    let (begun, has_begun) = std_mpsc::channel();
    let (let_end, may_end) = std_mpsc::channel();
    let held = Arc::new(());
    let lock = Arc::downgrade(&held);
    let source = SlowSource {
        begun,
        may_end,
        _lock: held,
    };
    let (sender, events) = mpsc::unbounded_channel();
    let thread = ProofThread::start(Box::new(source), sender).unwrap();
    thread
        .request(ProveJob {
            request: RequestId(1),
            epoch: Epoch(0),
            x: Fr::from(7),
            skip,
            for_client: false,
        })
        .unwrap();
    has_begun.recv().unwrap();
    InProgress {
        thread,
        events,
        let_end,
        lock,
    }
}

#[test]
fn stopping_waits_for_the_proof_in_progress_and_leaves_the_counter_free() {
    let running = in_progress(SkipTaken::No);
    let let_end = running.let_end;
    let helper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        let_end.send(()).unwrap();
        // The channel stays open: only the message ends the proof.
        let_end
    });
    running.thread.stop();
    assert!(running.lock.upgrade().is_none(), "the source is still held");
    helper.join().unwrap();
}

#[test]
fn a_proof_that_asks_about_an_id_does_not_wait_for_a_loop_that_has_ended() {
    let mut running = in_progress(SkipTaken::Unasked);
    drop(running.let_end);
    // As the event loop does before it stops the threads.
    running.events.close();
    while running.events.blocking_recv().is_some() {}
    running.thread.stop();
    assert!(running.lock.upgrade().is_none(), "the source is still held");
}
