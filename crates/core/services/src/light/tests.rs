//! A light client among service peers that behave, vanish, sleep, lie, limit the rate, or answer
//! late.

mod faults;
mod late;
mod promises;
mod ticks;
mod world;
