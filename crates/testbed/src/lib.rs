//! Real processes and real kernels' TCP over an emulated wide-area network.
//!
//! Each [`Host`] is a network namespace of its own with one TUN device. A [`Testbed`] reads what
//! hosts send, passes it through [`undertone_link::packet`] in real time, and hands it to the
//! receiver's device: delays, rates, losses and queues without netem or any other kernel module but
//! `tun`. It runs as root, or in an unprivileged user namespace (`unshare --user --map-root-user`).
//!
//! A namespace has no name and no file: it is held by a thread, by the processes started from it,
//! and by open sockets and devices. When those end, by whatever signal, the kernel removes
//! namespace, device and routes. Nothing is left to clean up.
//!
//! [`kernel`] measures how long this machine's kernel takes for one message on one connection, to
//! check the simulator's TCP model by.

mod error;
mod host;
pub mod kernel;
mod privileges;
mod pump;
mod testbed;

pub use error::TestbedError;
pub use host::{Congestion, DEVICE, Host};
pub use privileges::{Unavailable, can_run};
pub use pump::PumpReport;
pub use testbed::{Testbed, TestbedConfig};
