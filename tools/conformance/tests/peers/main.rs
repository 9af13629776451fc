//! Tests with other implementations as peers. The step `interop` of `cargo xtask test`
//! selects this program by its name.

mod live;
mod peers_alone;
