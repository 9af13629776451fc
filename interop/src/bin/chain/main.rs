//! Chain benchmark.
fn main() {}
