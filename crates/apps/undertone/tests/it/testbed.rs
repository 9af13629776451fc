//! `undertone testbed` with real nodes. These tests make network namespaces; `cargo xtask test` runs
//! them where that is allowed (`cargo test -p undertone --test it testbed:: -- --ignored`), as root or in
//! an unprivileged user namespace.

mod clean_up;
mod faults;
mod runs;
mod support;
