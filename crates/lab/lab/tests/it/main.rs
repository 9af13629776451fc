//! Tests of the laboratory as its users see it: scenarios that run, tables, and what theory says of them.

mod attacks;
mod built_in;
mod runs;
mod service_keys;
mod tables;
mod theory;
