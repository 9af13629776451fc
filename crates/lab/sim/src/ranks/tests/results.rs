//! Tests of the encoding of results.

use super::*;
use crate::layout::{Layout, RankPart};
use crate::scenario::{Scenario, ServicesSetup};
use crate::shard::NodeShard;

fn part() -> Part {
    let mut scenario = Scenario::plain(20);
    scenario.services = Some(ServicesSetup::new(3, 5));
    let world = crate::run::plan::world(&scenario, 1, RankPart::WHOLE).unwrap();
    let mut shard = NodeShard::new(&world, &Layout::alone(1), 0);
    shard.run(&world, world.end_ns);
    let mut part = Part::new(&world, &[shard]);
    part.violations.push(Violation {
        at_ns: 5,
        node: 6,
        rule: "this is a rule",
    });
    part
}

#[test]
fn a_part_comes_back_as_it_was_and_a_cut_one_is_refused() {
    let part = part();
    assert!(!part.firsts.is_empty() && part.services.is_some());
    let message = write_part(&part);
    let back = read_part(&message).unwrap();
    assert_eq!(format!("{part:?}"), format!("{back:?}"));
    for len in (0..message.len()).step_by(7) {
        assert!(read_part(&message[..len]).is_err(), "{len}");
    }
}
