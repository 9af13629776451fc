//! The server compared with a model that searches a list of subscriptions.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const TOPICS: [&str; 4] = ["/a/1/0/p", "/a/1/1/p", "/a/1/2/p", "/a/1/3/p"];

#[derive(Clone, Debug)]
enum Step {
    Subscribe(u64, Vec<usize>),
    Unsubscribe(u64, Vec<usize>),
    UnsubscribeAll(u64),
    Ping(u64),
    Wait(u64),
    Gone(u64),
    Publish(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let peer = || 0_u64..5;
    let topics = || proptest::collection::vec(0_usize..4, 1..4);
    prop_oneof![
        3 => (peer(), topics()).prop_map(|(peer, topics)| Step::Subscribe(peer, topics)),
        2 => (peer(), topics()).prop_map(|(peer, topics)| Step::Unsubscribe(peer, topics)),
        1 => peer().prop_map(Step::UnsubscribeAll),
        2 => peer().prop_map(Step::Ping),
        2 => (0_u64..200).prop_map(Step::Wait),
        1 => peer().prop_map(Step::Gone),
        4 => (0_usize..4).prop_map(Step::Publish),
    ]
}

/// Reference model of the server, without an index.
#[derive(Default)]
struct Model {
    criteria: BTreeSet<(u64, usize)>,
    seen_s: [u64; 5],
    now_s: u64,
}

impl Model {
    fn alive(&self, peer: u64) -> bool {
        let has = self.criteria.iter().any(|&(of, _)| of == peer);
        has && self.now_s - self.seen_s[peer as usize] <= 300
    }

    fn expire(&mut self, peer: u64) {
        if !self.alive(peer) {
            self.criteria.retain(|&(of, _)| of != peer);
        }
    }

    fn touch(&mut self, peer: u64) -> u32 {
        if !self.alive(peer) {
            return 404;
        }
        self.seen_s[peer as usize] = self.now_s;
        200
    }

    fn subscribe(&mut self, peer: u64, topics: &[usize]) -> u32 {
        self.criteria
            .extend(topics.iter().map(|&topic| (peer, topic)));
        self.seen_s[peer as usize] = self.now_s;
        200
    }

    fn unsubscribe(&mut self, peer: u64, topics: &[usize]) -> u32 {
        let status = self.touch(peer);
        let before = self.criteria.len();
        self.criteria
            .retain(|&(of, topic)| of != peer || !topics.contains(&topic));
        if before == self.criteria.len() {
            404
        } else {
            status
        }
    }

    fn receivers(&self, topic: usize) -> Vec<u64> {
        let peers = self.criteria.iter().filter(|&&(_, wanted)| wanted == topic);
        peers
            .map(|&(peer, _)| peer)
            .filter(|&peer| self.alive(peer))
            .collect()
    }
}

fn names(topics: &[usize]) -> Vec<&'static str> {
    topics.iter().map(|&topic| TOPICS[topic]).collect()
}

proptest! {
    #[test]
    fn every_message_reaches_exactly_its_subscribers(steps in proptest::collection::vec(step(), 1..80)) {
        let mut bench = Bench::new(FilterLimits::default());
        let mut model = Model::default();
        for (number, step) in steps.into_iter().enumerate() {
            for peer in 0..5 {
                model.expire(peer);
            }
            match step {
                Step::Subscribe(peer, topics) => {
                    let status = bench.subscribe(peer, &names(&topics));
                    prop_assert_eq!(status, model.subscribe(peer, &topics));
                }
                Step::Unsubscribe(peer, topics) => {
                    let status = bench.unsubscribe(peer, &names(&topics));
                    prop_assert_eq!(status, model.unsubscribe(peer, &topics));
                }
                Step::UnsubscribeAll(peer) => {
                    let status = bench.ask(peer, SubscribeKind::UnsubscribeAll, None, &[]).0;
                    prop_assert_eq!(status, if model.alive(peer) { 200 } else { 404 });
                    model.criteria.retain(|&(of, _)| of != peer);
                }
                Step::Ping(peer) => prop_assert_eq!(bench.ping(peer), model.touch(peer)),
                Step::Wait(seconds) => {
                    bench.wait(seconds);
                    model.now_s += seconds;
                }
                Step::Gone(peer) => {
                    bench.handle(Input::PeerGone(PeerNo(peer)));
                }
                Step::Publish(topic) => {
                    let pushed = receivers(&bench.publish(&number.to_string(), TOPICS[topic]));
                    prop_assert_eq!(&pushed, &model.receivers(topic));
                    for peer in pushed {
                        bench.report(peer, true);
                    }
                }
            }
        }
        bench.wait(301);
        bench.handle(Input::Tick);
        prop_assert_eq!(bench.server.usage(), FilterUsage::default());
    }
}
