//! The shell lines of the documents, run as they stand. A program of its own, because they listen at ports that were free a moment
//! before, which other tests of one process would take.

mod first_steps;
mod readme;
