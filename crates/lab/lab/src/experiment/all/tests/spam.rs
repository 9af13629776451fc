use super::*;
use crate::record::Verdict;

const PLAN: SpamPlan = SpamPlan {
    nodes: 20,
    interval_s: 0.02,
    duration_s: 5.0,
    limit: 1,
    epoch_s: 10,
};

/// Figures and notes of a run whose spammer sent a message in each interval and kept this many
/// peers.
fn judged(interval_s: f64, peers: u32) -> Findings {
    let run = SpamRun {
        peers: vec![(0.0, 10), (5.0, peers)],
        prepared: 100,
        sent_s: (0..20).map(|sent| f64::from(sent) * interval_s).collect(),
        attempted: 200,
        delivered: 1,
        secret_recovered: peers == 0,
    };
    let mut findings = Findings::default();
    judge(&mut findings, &PLAN, &run);
    findings
}

fn verdicts(findings: &Findings) -> Vec<Verdict> {
    let figures = findings.figures.iter();
    figures.map(|figure| figure.verdict).collect()
}

#[test]
fn a_machine_that_is_too_slow_says_so_and_nothing_differs_for_it() {
    use Verdict::{Agrees, Shown};
    let slow = judged(0.04, 3);
    assert_eq!(verdicts(&slow), [Shown, Shown, Agrees, Shown]);
    assert!(slow.notes[0].starts_with("TOO SLOW: this machine sent 25.0 of"));
}

#[test]
fn a_machine_that_is_fast_enough_is_judged() {
    use Verdict::{Agrees, Differs};
    let fast = judged(0.02, 0);
    assert_eq!(verdicts(&fast), [Agrees; 4]);
    assert!(fast.notes.is_empty());
    let kept = judged(0.02, 3);
    assert_eq!(verdicts(&kept), [Differs, Agrees, Agrees, Differs]);
}
