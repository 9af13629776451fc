use super::super::items::items;
use super::*;

#[test]
fn a_circle_is_every_file_that_reaches_every_other() {
    let sources = [
        ("c/src/lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
        ("c/src/a.rs", "use crate::b::B;"),
        ("c/src/b.rs", "use crate::c::C; struct B;"),
        ("c/src/c.rs", "use crate::a::A; use crate::d::D; struct C;"),
        ("c/src/d.rs", "use crate::e::E; struct D;"),
        ("c/src/e.rs", "struct E;"),
        ("other/src/lib.rs", "mod a; mod b;"),
        ("other/src/a.rs", "use crate::b::B;"),
        ("other/src/b.rs", "struct B;"),
    ];
    let files = sources.map(|(path, text)| (PathBuf::from(path), items(text)));
    let found = circles(&BTreeMap::from(files));
    let expected = ["c/src/a.rs", "c/src/b.rs", "c/src/c.rs"].map(PathBuf::from);
    assert_eq!(found, [expected.to_vec()]);
}

#[test]
fn two_circles_that_touch_are_one_and_two_apart_are_two() {
    let edges = |pairs: &[(usize, usize)]| {
        let mut edges = vec![BTreeSet::new(); 5];
        for (from, to) in pairs {
            edges[*from].insert(*to);
        }
        edges
    };
    let apart = edges(&[(0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (3, 4)]);
    assert_eq!(components(&apart), [[0, 1], [2, 3]]);
    let touching = edges(&[(0, 1), (1, 0), (1, 2), (2, 1)]);
    assert_eq!(components(&touching), [[0, 1, 2]]);
    assert_eq!(
        components(&edges(&[(0, 1), (1, 2)])),
        Vec::<Vec<usize>>::new()
    );
}
