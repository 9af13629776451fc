//! Tests of testbeds with real devices in real namespaces. The step `testbed` of `cargo xtask test` selects this
//! program by its name.

mod killed;
mod tun_pair;
