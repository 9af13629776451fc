//! Connections of real nodes over loopback: those that die, those that are too many.

mod families;
mod floods;
mod foreign_relay;
mod nat;
mod proxy;
mod quic;
mod reconnect;
mod support;
mod taken_port;
mod udp_path;
mod wss;
