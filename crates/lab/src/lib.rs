//! The laboratory: scenario files, closed-form models, reports, published figures.
//!
//! Nothing here simulates by itself. [`scenario`] turns files into what `undertone_sim` runs, [`report`] turns
//! what it returns into tables and files, [`model`] predicts the same without running anything, and
//! [`compare`] puts ours beside what others published. [`record`] holds what an experiment found, and
//! [`page`] draws it, [`export`] hands it
//! to other programs.

pub mod compare;
pub mod export;
pub mod model;
pub mod page;
pub mod record;
pub mod report;
pub mod scenario;
