//! The laboratory: scenario files, closed-form models, reports, published figures.
//!
//! [`scenario`] turns files into what `undertone_sim` runs, [`report`] turns what it returns into
//! tables and files, [`model`] predicts the same without running anything, and [`compare`] puts ours
//! beside what others published. [`experiment`] does all of that for each publication, [`record`]
//! holds what it found, [`page`] draws it, [`export`] hands it to other programs.

pub mod compare;
pub mod experiment;
pub mod export;
pub mod model;
pub mod page;
pub mod published;
pub mod record;
pub mod report;
pub mod scenario;
