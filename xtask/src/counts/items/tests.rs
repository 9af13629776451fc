use super::*;

fn import(path: &str, name: Option<&str>) -> Import {
    Import {
        path: path.split("::").map(str::to_owned).collect(),
        name: name.map(str::to_owned),
    }
}

#[test]
fn imports_are_one_for_each_name() {
    let text = "use crate::a::{self, b::{C, D as E}, f::*};\npub(crate) use super::g;\n\
        fn h() { use self::i::J; }\nuse k as l;";
    assert_eq!(
        items(text).imports,
        [
            import("crate::a", Some("a")),
            import("crate::a::b::C", Some("C")),
            import("crate::a::b::D", Some("E")),
            import("crate::a::f", None),
            import("super::g", Some("g")),
            import("self::i::J", Some("J")),
            import("k", Some("l")),
        ]
    );
}

#[test]
fn types_are_definitions_not_uses_and_not_associated() {
    let text = "pub struct A<T>(T);\nenum B { C }\npub(crate) trait D { type E; }\ntype F = A<u8>;\n\
        impl D for B { type E = F; }\nfn g() { struct H; }\nconst I: u8 = 1;";
    let items = items(text);
    assert_eq!(items.types, ["A", "B", "D", "F", "H"]);
    assert_eq!(items.defined, ["A", "B", "D", "F", "g", "H", "I"]);
}

#[test]
fn what_is_for_tests_only_is_left_out() {
    let text = "#[cfg(test)]\nuse crate::a::B;\nmod c;\n#[cfg(test)]\nmod tests;\n#[cfg(all(test, unix))]\n\
        mod d { use crate::e::F; struct G { h: [u8; 2] } }\n#[cfg(not(test))]\nmod i;\nstruct J;";
    let items = items(text);
    assert_eq!(items.modules, ["c", "i"]);
    assert_eq!(items.imports, []);
    assert_eq!(items.types, ["J"]);
}

#[test]
fn captured_lifetimes_are_no_imports() {
    assert_eq!(items("fn a() -> impl B + use<'_> {}").imports, []);
}
