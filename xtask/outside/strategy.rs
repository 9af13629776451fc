//! A program outside the workspace: routers with a strategy of its own, on emulated links.

use std::collections::BTreeMap;
use std::error::Error;

use undertone_gossip as gossip;
use undertone_gossip::{Direction, Features, NewPeer, PeerIx, Router, Time, Verdict, View};
use undertone_link as link;
use undertone_link::{ConnIx, Host, Priority, Profile};

/// Sends each message to at most two subscribers, the last ones.
#[derive(Clone, Copy, Debug)]
struct LastTwo;

impl gossip::StrategyFactory for LastTwo {
    fn build(&self) -> Box<dyn gossip::Strategy> {
        Box::new(*self)
    }
}

impl gossip::Strategy for LastTwo {
    fn publish(&mut self, view: &View<'_>, _: usize, _: &mut gossip::Rng) -> Vec<PeerIx> {
        view.subscribers().iter().rev().take(2).copied().collect()
    }
}

const ONLY: (PeerIx, ConnIx) = (PeerIx(0), ConnIx(0));

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = gossip::Config::libp2p();
    config.strategy = gossip::StrategyChoice::custom(LastTwo);
    let router = |seed| Router::new(config.clone(), [seed; 32], Time::ZERO);
    let mut routers = [router(1)?, router(2)?];
    let rates = link::StackConfig::new(Profile::LINUX, 1_000_000, 1_000_000);
    let mut hosts = [Host::new(rates, [1; 32]), Host::new(rates, [2; 32])];
    let features = Features::of("/meshsub/1.2.0").ok_or("not in the table of protocols")?;
    let mut arrivals = BTreeMap::new();
    let (mut now_ns, mut sent, mut inputs) = (0, 0, Vec::new());
    for (node, direction) in [(0, Direction::Outbound), (1, Direction::Inbound)] {
        let connect = link::Input::Connect {
            conn: ONLY.1,
            remote: 1 - node as u32,
            remote_conn: ONLY.1,
            delay_ns: 30_000_000,
            reverse_delay_ns: 30_000_000,
            loss: 0.0,
            sent_before: None,
        };
        hosts[node].handle(0, connect)?;
        let peer = NewPeer::new(ONLY.0, features, direction);
        inputs.push((node, gossip::Input::Connected(peer)));
        inputs.push((node, gossip::Input::Subscribe("/outside/1".into())));
    }
    let mut publish = Some(());
    while now_ns < 2_000_000_000 {
        let now = Time::from_nanos(now_ns);
        if now_ns > 500_000_000 && publish.take().is_some() {
            let (topic, data) = ("/outside/1".into(), "from outside".into());
            let request = gossip::RequestId(1);
            inputs.push((
                0,
                gossip::Input::Publish {
                    topic,
                    data,
                    request,
                },
            ));
        }
        inputs.extend([(0, gossip::Input::Tick), (1, gossip::Input::Tick)]);
        while !inputs.is_empty() {
            let (node, input) = inputs.remove(0);
            routers[node].handle(now, input)?;
            while let Some(output) = routers[node].poll() {
                match output {
                    gossip::Output::Send { frame, .. } => {
                        let bytes = frame.len() as u64;
                        let (conn, priority) = (ONLY.1, Priority::Normal);
                        let write = link::Input::Write {
                            conn,
                            frame,
                            bytes,
                            priority,
                        };
                        hosts[node].handle(now_ns, write)?;
                    }
                    gossip::Output::Validate { id, .. } => {
                        let verdict = Verdict::Accept;
                        inputs.push((node, gossip::Input::Validated { id, verdict }));
                    }
                    gossip::Output::Deliver { data, .. } => {
                        assert_eq!((node, &data[..]), (1, &b"from outside"[..]));
                        println!("delivered after {} ms", now_ns / 1_000_000);
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
        for (node, host) in hosts.iter_mut().enumerate() {
            while let Some(output) = host.poll() {
                match output {
                    link::Output::Send { to, at_ns, arrival } => {
                        sent += 1;
                        arrivals.insert((at_ns, sent), (to as usize, arrival));
                    }
                    link::Output::Received { frame, .. } => {
                        let (peer, frame) = (ONLY.0, frame.into());
                        inputs.push((node, gossip::Input::Frame { peer, frame }));
                    }
                    link::Output::Begun { .. } | link::Output::Writable(_) => {}
                }
            }
        }
        if !inputs.is_empty() {
            continue;
        }
        let timers = routers
            .iter()
            .map(|router| router.next_timeout().as_nanos());
        let timers = timers.chain(hosts.iter().filter_map(Host::next_timeout));
        let arrival = arrivals.first_key_value().map(|((at_ns, _), _)| *at_ns);
        now_ns = timers.chain(arrival).min().unwrap_or(u64::MAX);
        for host in &mut hosts {
            host.handle(now_ns, link::Input::Tick)?;
        }
        while let Some(first) = arrivals
            .first_entry()
            .filter(|first| first.key().0 <= now_ns)
        {
            let (to, arrival) = first.remove();
            hosts[to].handle(now_ns, link::Input::Arrival(arrival))?;
        }
    }
    Err("nothing was delivered".into())
}
