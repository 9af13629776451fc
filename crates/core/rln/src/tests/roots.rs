use super::*;

fn window(capacity: usize, roots: &[u64]) -> RootWindow {
    let mut window = RootWindow::new(capacity);
    for root in roots {
        window.push(Fr::from(*root));
    }
    window
}

#[test]
fn an_empty_window_accepts_nothing() {
    let empty = window(3, &[]);
    assert!(empty.is_empty());
    assert!(!empty.contains(&Fr::from(0)));
    let closed = window(0, &[7]);
    assert!(closed.is_empty());
    assert!(!closed.contains(&Fr::from(7)));
}

#[test]
fn the_oldest_root_leaves_first() {
    let window = window(2, &[1, 2, 3]);
    assert_eq!(window.len(), 2);
    assert!(!window.contains(&Fr::from(1)));
    assert!(window.contains(&Fr::from(2)));
    assert!(window.contains(&Fr::from(3)));
    assert_eq!(window.newest(), Some(Fr::from(3)));
}

#[test]
fn repeating_the_newest_root_pushes_nothing_out() {
    let window = window(2, &[1, 2, 2, 2]);
    assert_eq!(window.len(), 2);
    assert!(window.contains(&Fr::from(1)));
}

#[test]
fn a_root_that_comes_back_counts_as_new() {
    let window = window(2, &[1, 2, 1]);
    assert!(window.contains(&Fr::from(2)));
    assert_eq!(window.newest(), Some(Fr::from(1)));
}
