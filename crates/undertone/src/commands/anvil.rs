//! The development chain that some commands start.

use std::io::{self, Write};

use undertone_contracts::{DevChain, DevChainError, DevChainOptions};

/// Starts a development chain. Installs the program `anvil` first if it is missing, with a note on
/// standard error.
pub(crate) fn start(options: &DevChainOptions) -> Result<DevChain, DevChainError> {
    DevChain::start_or_install(options, || {
        // A closed standard error is no reason to fail. The line break ends an unfinished progress line.
        let what = "anvil is not here: `npm ci` in contracts/ installs it";
        let _ = writeln!(io::stderr().lock(), "\n{what}");
    })
}
