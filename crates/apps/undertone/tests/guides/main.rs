//! The shell lines of the documents, run as they stand. A program of its own, because they listen at ports that were free a moment
//! before, which other tests of one process would take.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use std::net::TcpListener;

mod first_steps;
mod readme;

/// Replaces every fixed port by one that is free now.
fn with_free_ports(script: &str, fixed: &[&str]) -> String {
    // All are held until all are known, so that none is given twice.
    let held: Vec<_> = fixed
        .iter()
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    // By way of marks: a free port, such as 38645, may have a fixed one in it.
    let marked = fixed
        .iter()
        .enumerate()
        .fold(script.to_owned(), |script, (index, port)| {
            assert!(script.contains(port), "the document uses port {port}");
            script.replace(port, &format!("@port{index}@"))
        });
    held.iter()
        .enumerate()
        .fold(marked, |script, (index, listener)| {
            let free = listener.local_addr().unwrap().port();
            script.replace(&format!("@port{index}@"), &free.to_string())
        })
}
