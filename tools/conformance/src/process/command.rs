use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Command line of a peer program, with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCommand {
    label: String,
    program: PathBuf,
    args: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl PeerCommand {
    /// Makes a command without arguments, with the label that errors will use.
    pub fn new(label: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            label: label.into(),
            program: program.into(),
            args: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Parses a command line, split at white space without quoting. Returns `None` if it is blank.
    #[must_use]
    pub fn parse(label: &str, line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let program = words.next()?;
        Some(words.fold(Self::new(label, program), Self::arg))
    }

    /// Adds one argument to the command.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds the option `--name value`.
    #[must_use]
    pub fn option(self, name: &str, value: impl ToString) -> Self {
        self.arg(format!("--{name}")).arg(value.to_string())
    }

    /// Sets an environment variable of the process.
    #[must_use]
    pub fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let variable = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.variables.push(variable);
        self
    }

    /// Replaces the command's label.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Returns the label that errors use.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the path of the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the command for starting a process.
    #[must_use]
    pub fn build(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args);
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        command
    }
}
