//! A node as its supervisor sees it: a process that is told by signals to stop.

mod stopping;
mod support;
