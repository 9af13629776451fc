//! The development chain of the demo and of experiments.

use undertone_contracts::{DevChain, DevChainError, DevChainOptions};

/// Starts a development chain. Installs the program `anvil` first if it is missing, and tells `note` so.
pub(crate) fn start(
    options: &DevChainOptions,
    note: &dyn Fn(&str),
) -> Result<DevChain, DevChainError> {
    DevChain::start_or_install(options, || {
        note("anvil is not here: `npm ci` in contracts/ installs it");
    })
}
