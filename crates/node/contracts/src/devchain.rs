//! Private development chain: anvil as a child process.

use std::collections::VecDeque;
use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use alloy::providers::DynProvider;
use alloy::signers::local::PrivateKeySigner;

use crate::account::{Account, reader};
use crate::error::ChainError;

mod control;
mod install;
/// Environment variable with the path of the anvil program.
pub const ANVIL_VARIABLE: &str = "UNDERTONE_ANVIL";

/// Timeout of the start, in case the program hangs; a normal start takes a tenth of a second.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Shell script that starts the program, waits for the end of standard input, and kills the
/// program. Standard input ends when this process drops its end of the pipe, and when this process
/// ends for any reason.
const LEASH: &str = r#""$@" </dev/null & exec >/dev/null 2>&1; cat; kill -KILL $!"#;

/// Options of a development chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevChainOptions {
    /// Number of accounts, with 10,000 ether each.
    pub accounts: u16,
    /// Seconds between blocks; `None` mines a block at once for each transaction.
    pub block_time_s: Option<u64>,
    /// Chain id, as of EIP-155.
    pub chain_id: u64,
    /// Unix time of the first block, seconds; `None` for now. From there on time advances with the clock.
    pub start_s: Option<u64>,
}

/// A running development chain, which ends when it is dropped.
#[derive(Debug)]
pub struct DevChain {
    endpoint: String,
    keys: Vec<PrivateKeySigner>,
    provider: DynProvider,
    leash: Option<ChildStdin>,
    child: Child,
}

/// Error of starting a development chain.
#[derive(Debug, thiserror::Error)]
pub enum DevChainError {
    /// The program anvil was not found.
    #[error(
        "anvil not found: run `npm ci` in contracts/ (npm comes with Node.js 20+), or put anvil on \
         the PATH, or name it in {ANVIL_VARIABLE}"
    )]
    NotFound,
    /// The installation of anvil by `npm ci` failed.
    #[error("`npm ci` in contracts/, which installs anvil, failed: {said}")]
    Install {
        /// Error output of npm.
        said: String,
    },
    /// The environment variable does not name a file.
    #[error(
        "{ANVIL_VARIABLE} names {program}, where there is no file: name anvil itself, or unset it \
         to use the one on the PATH or in contracts/",
        program = program.display()
    )]
    Named {
        /// The path that the variable names.
        program: PathBuf,
    },
    /// The program cannot be started.
    #[error("cannot run {program}: {source}", program = program.display())]
    Start {
        /// Path of the program.
        program: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The program ended during its start, or hangs.
    #[error("{program} is not ready; it wrote: {said}", program = program.display())]
    NotReady {
        /// Path of the program.
        program: PathBuf,
        /// The last lines of its error output, or a description of the fault.
        said: String,
    },
}

impl Default for DevChainOptions {
    fn default() -> Self {
        Self {
            accounts: 10,
            block_time_s: None,
            chain_id: 31_337,
            start_s: None,
        }
    }
}

impl DevChain {
    /// Starts a chain on a free port of the loopback interface.
    ///
    /// The program is the one that `UNDERTONE_ANVIL` names, else `anvil` from the `PATH`, else the one
    /// installed in `contracts/` by `npm ci`.
    ///
    /// # Errors
    /// [`DevChainError`], which says how to get the program.
    pub fn start(options: &DevChainOptions) -> Result<Self, DevChainError> {
        Self::start_program(find()?, options)
    }

    /// Like [`Self::start`]. If the program is missing, but the sources and npm are present, first calls
    /// `installing` and installs the program by `npm ci` in `contracts/`.
    ///
    /// # Errors
    /// [`DevChainError`], which says how to get the program.
    pub fn start_or_install(
        options: &DevChainOptions,
        installing: impl FnOnce(),
    ) -> Result<Self, DevChainError> {
        Self::start_program(install::find_or_install(installing)?, options)
    }

    fn start_program(program: PathBuf, options: &DevChainOptions) -> Result<Self, DevChainError> {
        let mut command = Command::new("sh");
        command.args(["-c", LEASH, "sh"]).arg(&program);
        command.args(["--host", "127.0.0.1", "--port", "0"]);
        command.args(["--accounts", &options.accounts.to_string()]);
        command.args(["--chain-id", &options.chain_id.to_string()]);
        if let Some(start_s) = options.start_s {
            command.args(["--timestamp", &start_s.to_string()]);
        }
        if let Some(block_time_s) = options.block_time_s {
            command.args(["--block-time", &block_time_s.to_string()]);
        }
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|source| DevChainError::Start {
            program: program.clone(),
            source,
        })?;
        let leash = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let stderr = child.stderr.take().expect("stderr was asked to be piped");
        let (ready, greeting) = mpsc::channel();
        thread::spawn(move || follow(stdout, &ready));
        // This thread ends with the program, as the one for standard output does.
        let complaints = thread::spawn(move || tail(stderr));

        let greeting = greeting.recv_timeout(START_PATIENCE);
        let not_ready = |said| DevChainError::NotReady {
            program: program.clone(),
            said,
        };
        let (endpoint, keys) = match greeting {
            Ok(greeting) => greeting,
            Err(late) => {
                end(leash, &mut child);
                return Err(not_ready(match late {
                    RecvTimeoutError::Disconnected => complaints.join().unwrap_or_default(),
                    RecvTimeoutError::Timeout => "nothing in 60 s".to_owned(),
                }));
            }
        };
        let provider = reader(&endpoint).map_err(|error| not_ready(error.to_string()))?;
        Ok(Self {
            endpoint,
            keys,
            provider,
            leash,
            child,
        })
    }

    /// Returns the endpoint, `http://127.0.0.1:PORT`; WebSockets are on the same port.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns the keys of the accounts that hold ether. They are the same on every such chain: never use
    /// them elsewhere.
    #[must_use]
    pub fn keys(&self) -> &[PrivateKeySigner] {
        &self.keys
    }

    /// Returns the account with key `number`, which wraps around at the number of keys.
    ///
    /// # Errors
    /// [`ChainError::Endpoint`], never in practice: the endpoint is this chain's own.
    pub fn account(&self, number: usize) -> Result<Account, ChainError> {
        let key = &self.keys[number % self.keys.len()];
        Account::connect(&self.endpoint, key.clone())
    }

    /// Returns a provider that only reads from the endpoint.
    #[must_use]
    pub fn provider(&self) -> &DynProvider {
        &self.provider
    }
}

impl Drop for DevChain {
    fn drop(&mut self) {
        end(self.leash.take(), &mut self.child);
    }
}

/// Closes the program's standard input, which kills it, and waits until it has ended.
fn end(leash: Option<ChildStdin>, child: &mut Child) {
    drop(leash);
    // Fails only if the child was already waited for.
    let _ = child.wait();
}

/// Reads the endpoint and the keys from the program's first output and sends them; then keeps reading, so
/// that the pipe does not fill up.
fn follow(stdout: impl Read, ready: &Sender<(String, Vec<PrivateKeySigner>)>) {
    let mut keys = Vec::new();
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if let Some(address) = line.strip_prefix("Listening on ") {
            // The receiver is gone after the timeout.
            let _ = ready.send((format!("http://{address}"), std::mem::take(&mut keys)));
        } else if let Some((_, key)) = line.split_once(") 0x")
            && key.len() == 64
            && let Ok(key) = key.parse()
        {
            keys.push(key);
        }
    }
}

/// Returns the last ten lines of the error output.
fn tail(stderr: impl Read) -> String {
    let mut last = VecDeque::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if last.len() == 10 {
            last.pop_front();
        }
        last.push_back(line);
    }
    last.make_contiguous().join("\n")
}

/// Finds the program: named by the variable, on the `PATH`, or installed by npm.
fn find() -> Result<PathBuf, DevChainError> {
    if let Some(program) = env::var_os(ANVIL_VARIABLE).map(PathBuf::from) {
        return match program.is_file() {
            true => Ok(program),
            false => Err(DevChainError::Named { program }),
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut programs = env::split_paths(&path).map(|folder| folder.join("anvil"));
    programs
        .find(|program| program.is_file())
        .or_else(installed)
        .ok_or(DevChainError::NotFound)
}

/// Finds `contracts/node_modules/@foundry-rs/anvil-SYSTEM/bin/anvil`; npm chose `SYSTEM` for this machine.
fn installed() -> Option<PathBuf> {
    let packages = install::folder().join("node_modules/@foundry-rs");
    let mut programs = packages
        .read_dir()
        .ok()?
        .flatten()
        .map(|package| package.path().join("bin/anvil"));
    programs.find(|program| program.is_file())
}
