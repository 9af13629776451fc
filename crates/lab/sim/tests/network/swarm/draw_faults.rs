//! Random faults, troubles of services, and adversaries.

use undertone_sim::Scenario;
use undertone_sim::scenario::{
    ClientSleep, Fault, FaultKind, Group, Members, Policy, PushVersion, ServiceTrouble,
    ServicesSetup, Targets, TroubleKind,
};

use super::draw::Draw;
use crate::support::{MS, S};

/// Adds faults, and what ends them; returns the time from which none begins or ends.
pub(crate) fn faults(draw: &mut Draw, scenario: &mut Scenario) -> u64 {
    let until_ns = draw.between(20, 120) * S;
    let third = scenario.nodes / 3;
    let is_gentle = scenario.services.is_some() && draw.percent(50);
    let mut faults = Vec::new();
    for _ in 0..draw.between(1, 7) {
        let at_ns = draw.between(2 * S, until_ns);
        let for_ns = draw.between(S, 40 * S).min(until_ns - at_ns);
        let kind = match is_gentle {
            true => gentle(draw),
            false => kind(draw, scenario, for_ns),
        };
        // Who does not come back, or never heals, is a third of all at most.
        let most = match kind {
            FaultKind::Partition { .. } | FaultKind::Join => scenario.nodes - 1,
            // Every message that breaks no rate limit is spread to all.
            FaultKind::Spam { .. } if scenario.rln.is_none() => 1,
            FaultKind::Spam { .. } => 3,
            _ => third,
        };
        let nodes = draw.count(1, most);
        faults.push(Fault { at_ns, nodes, kind });
        let heals = match kind {
            FaultKind::Slow { .. } => Some(FaultKind::Slow { factor: 1.0 }),
            FaultKind::Lossy { .. } => Some(FaultKind::Lossy { loss: 0.0 }),
            FaultKind::ClockSkew { .. } => Some(FaultKind::ClockSkew { by_ns: 0 }),
            _ => None,
        };
        // Some nodes stay a little slow or lossy, or with a wrong clock.
        let is_mild = match kind {
            FaultKind::Slow { factor } => factor > 0.5,
            FaultKind::Lossy { loss } => loss < 0.03,
            _ => true,
        };
        if let Some(kind) = heals
            && (!is_mild || draw.percent(50))
        {
            let at_ns = at_ns + for_ns;
            faults.push(Fault { at_ns, nodes, kind });
        }
    }
    faults.sort_by_key(|fault| fault.at_ns);
    scenario.faults = faults;
    until_ns
}

/// Faults in which no relay is lost, not even for a while.
fn gentle(draw: &mut Draw) -> FaultKind {
    match draw.percent(50) {
        true => FaultKind::Slow {
            factor: 0.1 + 0.9 * draw.unit(),
        },
        false => FaultKind::Lossy {
            loss: draw.unit() * 0.3,
        },
    }
}

fn kind(draw: &mut Draw, scenario: &Scenario, for_ns: u64) -> FaultKind {
    match draw.between(0, 8) {
        0 => FaultKind::Crash {
            noticed_after_ns: draw.between(0, 20 * S),
        },
        1 => FaultKind::Leave,
        2 => FaultKind::Join,
        3 => FaultKind::Partition { for_ns },
        4 | 5 => gentle(draw),
        6 => {
            let by_ns = draw.between(0, 80 * S) as i64 - 40 * S as i64;
            FaultKind::ClockSkew { by_ns }
        }
        7 => {
            let least_ms = match scenario.rln {
                Some(_) => 500,
                None => 1_000,
            };
            FaultKind::Spam {
                interval_ns: draw.between(least_ms, 2_000) * MS,
            }
        }
        _ => FaultKind::Silent,
    }
}

/// Adds service nodes, light clients, and their troubles.
pub(crate) fn services(draw: &mut Draw, scenario: &mut Scenario) {
    let nodes = draw.count(2, 5);
    let mut setup = ServicesSetup::new(nodes, draw.count(1, 20));
    setup.peers_per_client = draw.count(1, nodes);
    if draw.percent(30) {
        setup.known_peers = Some(draw.count(1, setup.peers_per_client));
    }
    setup.metadata = draw.percent(30);
    setup.filter_peers = draw.count(1, setup.peers_per_client);
    setup.publish_one_in = draw.count(2, 5);
    setup.lightpush = draw.one_of(&[PushVersion::V2, PushVersion::V3]);
    setup.content_topics = draw.count(1, 4);
    setup.topics_per_client = draw.count(1, setup.content_topics);
    if draw.percent(30) {
        setup.read_every_ns = Some(draw.between(5, 30) * S);
    }
    if draw.percent(30) {
        setup.sync_every_ns = Some(draw.between(5, 30) * S);
    }
    if draw.percent(50) {
        setup.stream_loss = draw.unit() * 0.1;
    }
    if draw.percent(30) {
        setup.connection_lost_every_ns = Some(draw.between(20, 200) * S);
    }
    if draw.percent(30) {
        setup.sleep = Some(ClientSleep {
            every_ns: draw.between(20, 100) * S,
            for_ns: draw.between(1, 30) * S,
        });
    }
    for _ in 0..draw.between(0, 4) {
        setup.troubles.push(ServiceTrouble {
            peer: draw.count(0, nodes - 1),
            at_ns: draw.between(2, 100) * S,
            for_ns: draw.between(1, 60) * S,
            kind: draw.one_of(&[
                TroubleKind::Gone,
                TroubleKind::Hangs,
                TroubleKind::Mute,
                TroubleKind::Lies,
                TroubleKind::OtherCluster,
            ]),
        });
    }
    scenario.services = Some(setup);
}

/// Adds adversaries, most of which are gone when the faults are over.
pub(crate) fn adversaries(draw: &mut Draw, scenario: &mut Scenario, until_ns: u64) {
    let mut policy = Policy::honest();
    policy.arrives_ns = draw.between(0, until_ns / 2);
    policy.arrives_over_ns = draw.between(1, 10 * S);
    policy.leaves_ns = draw.percent(70).then_some(until_ns);
    policy.misbehaves_from_ns = draw.between(0, until_ns / 2);
    if draw.percent(30) {
        policy.turns_ns = Some((draw.between(1, 10) * S, draw.between(1, 10) * S));
    }
    if draw.percent(20) {
        let nodes = (0..scenario.nodes).step_by(draw.size(2, 9));
        policy.targets = Targets::Nodes(nodes.collect());
    }
    policy.dials = draw.count(1, 20);
    policy.graft = draw.unit();
    policy.accepts_graft = draw.unit();
    policy.forward = draw.unit();
    policy.answer = draw.unit();
    if draw.percent(50) {
        policy.regraft_after_ns = Some(draw.between(100 * MS, 70 * S));
    }
    if draw.percent(30) {
        policy.forward_delay_ns = draw.between(0, 2 * S);
    }
    if draw.percent(50) {
        policy.announce = draw.unit();
        policy.announce_false = draw.count(0, 10);
        // Those who stay do not fill the links.
        policy.request = match policy.leaves_ns {
            Some(_) => draw.count(0, 3),
            None => 0,
        };
    }
    let count = draw.count(1, 16);
    policy.addresses = draw.count(1, count);
    policy.dialled = (draw.unit() * 2.0).min(f64::from(count));
    let mut group = Group::new("adversaries", Members::Count(count));
    group.policy = Some(Box::new(policy));
    scenario.groups.push(group);
}
