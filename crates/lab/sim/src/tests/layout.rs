//! Tests of the division of nodes among threads.

use super::*;

#[test]
fn every_node_has_one_place_and_everybody_agrees_on_it() {
    let threads = vec![2, 1, 3];
    let layouts = (0..3).map(|rank| Layout::new(rank, threads.clone()));
    let layouts: Vec<_> = layouts.collect();
    let mut seen = 0;
    for layout in &layouts {
        for thread in 0..layout.threads() {
            for (slot, node) in layout.nodes(thread, 1000).enumerate() {
                seen += 1;
                assert!(layout.part.holds(node));
                assert_eq!(layout.slot(node), slot);
                for seen_by in &layouts {
                    assert_eq!(seen_by.thread_of(node), layout.first() + thread);
                }
            }
        }
    }
    assert_eq!(seen, 1000);
    assert_eq!(layouts[0].total(), 6);
    assert_eq!(layouts[0].threads_of(2), 3..6);
}
