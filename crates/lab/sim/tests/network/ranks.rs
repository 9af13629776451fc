//! One run on several ranks, which are threads of one process here and know each other by their messages alone.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use undertone_sim::outcome::RecordOptions;
use undertone_sim::ranks::{RankError, Ranks};
use undertone_sim::{Outcome, RunOptions, Scenario, SimError, run_on_ranks};

/// A rank whose messages go through channels; it fails at the exchange of the given number.
pub(crate) struct ChannelRank {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
    fails_at: Option<usize>,
    exchanges: usize,
}

impl Ranks for ChannelRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError> {
        self.exchanges += 1;
        if self.fails_at == Some(self.exchanges) {
            return Err(RankError::Gone);
        }
        for (to, message) in self.to.iter().zip(messages) {
            to.send(message).map_err(|_| RankError::Gone)?;
        }
        let messages = self.from.iter();
        messages
            .map(|from| from.recv().map_err(|_| RankError::Gone))
            .collect()
    }
}

/// Ranks that are joined by channels.
fn joined(count: usize) -> Vec<ChannelRank> {
    let mut ranks: Vec<_> = (0..count)
        .map(|rank| ChannelRank {
            rank,
            to: Vec::new(),
            from: Vec::new(),
            fails_at: None,
            exchanges: 0,
        })
        .collect();
    for from in 0..count {
        for to in 0..count {
            let (sender, receiver) = channel();
            ranks[from].to.push(sender);
            ranks[to].from.push(receiver);
        }
    }
    ranks
}

/// Runs a scenario on ranks with these numbers of threads; returns what each rank returns.
pub(crate) fn on_ranks(
    scenario: &Scenario,
    seed: u64,
    threads: &[usize],
) -> Vec<Result<Outcome, SimError>> {
    run(joined(threads.len()), |rank| {
        let options = RunOptions::new(seed).threads(threads[rank]);
        (scenario.clone(), options)
    })
}

fn run(
    ranks: Vec<ChannelRank>,
    what: impl Fn(usize) -> (Scenario, RunOptions) + Sync,
) -> Vec<Result<Outcome, SimError>> {
    thread::scope(|scope| {
        let ranks = ranks.into_iter().map(|mut rank| {
            let what = &what;
            scope.spawn(move || {
                let (scenario, options) = what(rank.rank);
                run_on_ranks(&scenario, options, &mut rank, &mut |_| {
                    ControlFlow::Continue(())
                })
            })
        });
        let ranks: Vec<_> = ranks.collect();
        let results = ranks
            .into_iter()
            .map(|rank| rank.join().expect("a rank does not panic"));
        results.collect()
    })
}

#[test]
fn ranks_with_different_seeds_or_scenarios_do_not_run() {
    let results = run(joined(2), |rank| {
        (Scenario::plain(10), RunOptions::new(rank as u64))
    });
    let differs = |what| Err(SimError::Ranks(RankError::Differs { rank: 1, what }));
    for result in results {
        assert_eq!(result.map(|_| ()), differs("seed"));
    }
    let results = run(joined(2), |rank| {
        (Scenario::plain(10 + rank as u32), RunOptions::new(1))
    });
    for result in results {
        assert_eq!(result.map(|_| ()), differs("scenario"));
    }
}

#[test]
fn a_rank_that_is_gone_ends_the_run_of_all() {
    let mut ranks = joined(3);
    ranks[1].fails_at = Some(40);
    let results = run(ranks, |_| {
        (Scenario::plain(30), RunOptions::new(1).threads(2))
    });
    for result in results {
        assert_eq!(result.map(|_| ()), Err(SimError::Ranks(RankError::Gone)));
    }
}

#[test]
fn a_network_without_delay_is_refused_on_ranks() {
    let mut scenario = Scenario::plain(10);
    scenario.network.delay = undertone_sim::scenario::Delay::Constant { one_way_ns: 1000 };
    for result in on_ranks(&scenario, 1, &[1, 1]) {
        assert!(matches!(
            result,
            Err(SimError::Invalid {
                what: "network.delay",
                ..
            })
        ));
    }
}

#[test]
fn what_several_ranks_cannot_do_is_refused_before_the_run() {
    let mut recorded = RecordOptions::NONE;
    recorded.links = true;
    let results = run(joined(2), |_| {
        let options = RunOptions::new(1).record(recorded);
        (Scenario::plain(10), options)
    });
    for result in results {
        let is_refused = matches!(
            result,
            Err(SimError::Invalid {
                what: "records",
                ..
            })
        );
        assert!(is_refused, "{result:?}");
    }
}
