//! Testbed: hosts and the emulated network between them.

use undertone_link::packet::{Change, HostConfig, Network, Paths};

use crate::addresses::AddressPlan;
use crate::error::TestbedError;
use crate::host::{Congestion, Host, Tcp};
use crate::pump::{Pump, PumpReport};

/// Configuration of a testbed.
#[derive(Clone, Debug)]
pub struct TestbedConfig {
    /// Links of each host, by its index.
    pub hosts: Vec<HostConfig>,
    /// Paths between the hosts: delay, jitter and loss.
    pub paths: Paths,
    /// Addresses of the hosts.
    pub addresses: AddressPlan,
    /// Congestion control of all hosts' connections; `None` keeps the kernel's default for a new
    /// namespace. The kernel refuses a name that is not in
    /// `net.ipv4.tcp_allowed_congestion_control`.
    pub congestion: Option<Congestion>,
    /// Whether a connection's congestion window is reset after an idle period
    /// (`net.ipv4.tcp_slow_start_after_idle`, the default of Linux).
    pub slow_start_after_idle: bool,
    /// Seed of the network's random choices.
    pub seed: [u8; 32],
}

/// A running testbed. Dropping it stops the packets; each namespace ends with the last thread or
/// process in it.
#[derive(Debug)]
pub struct Testbed {
    hosts: Vec<Host>,
    pump: Pump,
}

impl Testbed {
    /// Creates all namespaces and starts the network.
    ///
    /// # Errors
    ///
    /// [`TestbedError`], when a right is missing ([`crate::can_run`] says which), there are too
    /// many hosts, or the configuration is invalid.
    pub fn start(config: &TestbedConfig) -> Result<Self, TestbedError> {
        let count = config.hosts.len();
        let plan = config.addresses;
        let max = plan.max_hosts();
        let too_many = TestbedError::TooManyHosts { hosts: count, max };
        let count = u32::try_from(count)
            .ok()
            .filter(|count| *count <= max)
            .ok_or(too_many)?;
        let network = Network::new(&config.hosts, config.paths.clone(), config.seed)?;
        let tcp = Tcp {
            congestion: config.congestion,
            slow_start_after_idle: config.slow_start_after_idle,
        };
        let started = (0..count).map(|index| Host::start(index, plan, tcp));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        let (hosts, devices) = started.into_iter().unzip();
        let pump = Pump::start(network, devices, plan)?;
        Ok(Self { hosts, pump })
    }

    /// Returns the hosts by index, as in [`TestbedConfig::hosts`].
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the number of packets delivered and lost so far, and their lateness.
    pub fn report(&self) -> PumpReport {
        self.pump.report()
    }

    /// Changes the network, and returns after the change took effect.
    ///
    /// # Errors
    ///
    /// [`TestbedError::Change`] when the change names a host that does not exist or a probability
    /// above one; [`TestbedError::Gone`] when the thread of the network has ended.
    pub fn change(&self, change: Change) -> Result<(), TestbedError> {
        self.pump.change(change)
    }
}
