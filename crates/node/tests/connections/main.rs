//! Connections of real nodes over loopback: those that die, those that are too many.

mod floods;
mod proxy;
mod reconnect;
mod support;
