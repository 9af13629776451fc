#![doc = include_str!("../README.md")]

pub mod discv5;
pub mod dns;
pub mod record;
