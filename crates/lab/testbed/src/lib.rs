//! Testbed of real processes and the kernel's TCP over an emulated wide-area network.
//!
//! Each [`Host`] is a network namespace with one TUN device. A [`Testbed`] reads the packets that
//! hosts send, passes them through [`undertone_link::packet`] in real time, and writes them to the
//! receiver's device: it emulates delays, rates, losses and queues without netem or any other
//! kernel module but `tun`. It runs as root, or in an unprivileged user namespace (`unshare --user
//! --map-root-user`).
//!
//! A namespace has no name and no file: it is kept alive by a thread, by the processes started from
//! it, and by open sockets and devices. When those end, for any reason, the kernel removes
//! namespace, device and routes, so there is nothing to clean up.
//!
//! [`kernel`] measures the time that this machine's kernel takes for one message on one connection,
//! as a reference for the simulator's TCP model; [`fan`] how connections of one host share its uplink.

mod addresses;
mod error;
pub mod fan;
mod host;
pub mod kernel;
mod privileges;
mod pump;
mod simulated_pair;
mod testbed;

pub use addresses::AddressPlan;
pub use error::TestbedError;
pub use host::{Congestion, DEVICE, Host};
pub use privileges::{Unavailable, can_run};
pub use pump::PumpReport;
pub use testbed::{Testbed, TestbedConfig};
