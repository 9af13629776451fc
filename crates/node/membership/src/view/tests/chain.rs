use super::*;

#[test]
fn a_tree_ahead_of_the_accepted_roots_gives_no_path() {
    let registry = Memory::default();
    registry.register(Fr::from(1), 20).unwrap();
    let mut view = MembershipView::new(5);
    assert_eq!(View::path(&view, index(0)), None, "nothing is accepted yet");
    view.refresh(&registry).unwrap();
    assert_eq!(View::path(&view, index(0)), Some(view.path(index(0))));
    let step = LeafChange {
        index: index(1),
        before: Fr::from(0),
        after: Fr::from(9),
    };
    view.write(&[(step.index, step.after)], Version(2));
    assert_eq!(View::path(&view, index(0)), None);
    view.accept(&[step], false);
    assert_eq!(View::path(&view, index(0)), Some(view.path(index(0))));
}
