//! Execution of a [timeline](super::timeline): its acts on real nodes and on the emulated network.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use undertone_sim::Dial;
use undertone_testbed::{Host, Testbed};

use super::error::RunError;
use super::node::NodeProcess;
use super::timeline::{Act, Planned};
use super::{rest, traffic};

/// Pause between two attempts to connect.
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// Time limit for connecting a node that joins; the node may end before it can answer.
const DIAL_FOR: Duration = Duration::from_secs(20);

/// Executes every act at its time, where `zero` is the moment of scenario time `lead_ns`. Returns the
/// failed connections once the sender of `running` is dropped.
pub(crate) fn carry_out(
    timeline: Vec<Planned>,
    nodes: &mut [NodeProcess],
    testbed: &Testbed,
    (zero, lead_ns): (Instant, u64),
    running: &Receiver<Infallible>,
) -> Result<Vec<Dial>, RunError> {
    let addresses: Vec<_> = nodes.iter().map(|node| node.address.clone()).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let is_over = &is_over;
        let over = Over(is_over);
        let mut dialling = Vec::new();
        for Planned { at_ns, act } in timeline {
            let at = zero + Duration::from_nanos(at_ns.saturating_sub(lead_ns));
            let wait = at.saturating_duration_since(Instant::now());
            match running.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(never) => match never {},
            }
            match act {
                Act::Change(change) => testbed.change(change)?,
                Act::Start(node) => {
                    nodes[node as usize].launch(&testbed.hosts()[node as usize])?;
                }
                Act::Kill(node) => nodes[node as usize].kill(),
                Act::Leave(node) => nodes[node as usize].leave(),
                Act::Spam { node, interval_ns } => {
                    let host = &testbed.hosts()[node as usize];
                    let interval = Duration::from_nanos(interval_ns);
                    scope.spawn(move || spam(host, interval, is_over));
                }
                Act::Dial(asked) => {
                    let address = &addresses[asked.to as usize];
                    dialling.push(scope.spawn(move || dial(testbed, &asked, address, DIAL_FOR)));
                }
            }
        }
        // Blocks until the run is over and its sender is dropped; nothing is ever sent.
        let _ = running.recv();
        drop(over);
        let failed = dialling.into_iter().map(|dialling| {
            let ended = dialling.join();
            ended.expect("dialling does not panic")
        });
        let failed = failed.collect::<Result<Vec<_>, _>>()?;
        Ok(failed.into_iter().flatten().collect())
    })
}

/// Guard that sets its flag when dropped, so that spam ends however the run ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes a node publish until the run is over. Failures are ignored: the spammer was disconnected, as
/// expected, or its node has ended.
fn spam(host: &Host, interval: Duration, is_over: &AtomicBool) {
    let mut at = Instant::now();
    for number in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let _ = rest::ask_in(host, "POST", traffic::SPAM_PATH, &traffic::spam(number));
        // A late message delays the next ones: a node sends no faster than it proves.
        at = (at + interval).max(Instant::now());
        traffic::sleep_until(at);
    }
}

/// Makes a node connect to another as soon as both answer. Returns the dial if that took longer than
/// `give_up`.
pub(crate) fn dial(
    testbed: &Testbed,
    dial: &Dial,
    address: &str,
    give_up: Duration,
) -> Result<Option<Dial>, RunError> {
    let began = Instant::now();
    let [from, to] = [dial.from, dial.to].map(|node| &testbed.hosts()[node as usize]);
    let json = serde_json::json!([address]).to_string();
    loop {
        // A node answers REST requests once it listens.
        if rest::ask_in(to, "GET", "/health", "")?.is_ok() {
            let answer = rest::ask_in(from, "POST", "/admin/v1/peers", &json)?;
            if answer.is_ok_and(|answer| answer.status == 200) {
                return Ok(None);
            }
        }
        if began.elapsed() > give_up {
            return Ok(Some(*dial));
        }
        thread::sleep(TRY_AGAIN);
    }
}
