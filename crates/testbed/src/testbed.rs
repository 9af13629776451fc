//! Hosts and the network between them.

use undertone_link::packet::{Change, HostConfig, Network, Paths};

use crate::error::TestbedError;
use crate::host::{Congestion, Host, MAX_HOSTS, Tcp};
use crate::pump::{Pump, PumpReport};

/// What a testbed is made of.
#[derive(Clone, Debug)]
pub struct TestbedConfig {
    /// The links of each host.
    pub hosts: Vec<HostConfig>,
    /// What lies between them.
    pub paths: Paths,
    /// What connections of all hosts begin with; none: what the kernel gives a new namespace. The
    /// kernel refuses what `net.ipv4.tcp_allowed_congestion_control` does not name.
    pub congestion: Option<Congestion>,
    /// Whether a silence takes a connection's window back (`net.ipv4.tcp_slow_start_after_idle`, on
    /// unless somebody turned it off).
    pub slow_start_after_idle: bool,
    /// Of the network's random choices.
    pub seed: [u8; 32],
}

/// A running network. Dropping it stops the packets; namespaces go with the last thread or process
/// in them.
#[derive(Debug)]
pub struct Testbed {
    hosts: Vec<Host>,
    pump: Pump,
}

impl Testbed {
    /// Makes all namespaces and lets packets flow.
    ///
    /// # Errors
    ///
    /// When a right is missing ([`crate::can_run`] says which) or the configuration is wrong.
    pub fn start(config: &TestbedConfig) -> Result<Self, TestbedError> {
        let count = config.hosts.len();
        let max = MAX_HOSTS;
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
        let started = (0..count).map(|index| Host::start(index, tcp));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        let (hosts, devices) = started.into_iter().unzip();
        let pump = Pump::start(network, devices)?;
        Ok(Self { hosts, pump })
    }

    /// By index, as in [`TestbedConfig::hosts`].
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// What became of the packets so far, and how late they were.
    pub fn report(&self) -> PumpReport {
        self.pump.report()
    }

    /// Changes the network, and returns once it has changed.
    ///
    /// # Errors
    ///
    /// When the change names a host that is not there or a probability above one, or the thread of
    /// the network has ended.
    pub fn change(&self, change: Change) -> Result<(), TestbedError> {
        self.pump.change(change)
    }
}
