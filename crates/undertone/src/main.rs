//! The Undertone command line.
fn main() {}
