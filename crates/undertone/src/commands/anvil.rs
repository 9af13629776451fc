//! The development chain that some commands start.

use std::io::{self, Write};

use undertone_contracts::{DevChain, DevChainError, DevChainOptions};

/// Starts one. Where the program is missing it is installed first, and standard error says so.
pub(crate) fn start(options: &DevChainOptions) -> Result<DevChain, DevChainError> {
    DevChain::start_or_install(options, || {
        // Whoever closed standard error does not want to know. A line of progress may be unfinished.
        let what = "anvil is not here: `npm ci` in contracts/ installs it";
        let _ = writeln!(io::stderr().lock(), "\n{what}");
    })
}
