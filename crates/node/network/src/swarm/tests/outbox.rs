use std::sync::atomic::AtomicU32;
use std::task::Wake;

use super::*;

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_gate_closes_for_one_peer_and_wakes_its_readers_when_it_opens() {
    let (gate, [flooder, honest]) = (Gate::default(), [(); 2].map(|()| PeerId::random()));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let cx = Context::from_waker(&waker);
    assert!(gate.is_open(&flooder, &cx));
    gate.set_closed(flooder, true);
    gate.set_closed(flooder, true);
    assert!(!gate.is_open(&flooder, &cx) && !gate.is_open(&flooder, &cx));
    assert!(gate.is_open(&honest, &cx), "nobody else waits for it");
    gate.set_closed(flooder, false);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(gate.is_open(&flooder, &cx));
    assert!(gate.0.closed.lock().is_empty(), "nothing is kept of a peer");
}
