//! Tests with other implementations as peers, and of the programs that compare them. The step `interop` of `cargo xtask test`
//! selects this program by its name.

mod benches;
mod line;
mod live;
mod peers_alone;
