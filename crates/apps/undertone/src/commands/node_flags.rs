//! Keys of a node's configuration as flags of other commands.

use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use undertone_migrate::explain_flag;
use undertone_node::config::{ConfigKey, KEYS, Kind, Sources};

/// Commands that take every key of a node.
const COMMANDS: [&str; 2] = ["doctor", "node"];

/// Creates the flag of a key.
pub(crate) fn flag(key: &ConfigKey, help: &str, heading: &'static str) -> clap::Arg {
    let flag = clap::Arg::new(key.name)
        .long(key.flag().trim_start_matches("--").to_owned())
        .value_name("VALUE")
        .allow_negative_numbers(true)
        .help_heading(heading)
        .help(format!("{help} [{}]", key.variable()));
    // `--rest-admin` alone reads as `--rest-admin true`.
    match key.kind {
        Kind::Bool => flag
            .num_args(0..=1)
            .default_missing_value("true")
            .require_equals(true),
        _ => flag,
    }
}

/// Adds a tip to an error about an unknown flag if the reference node has that flag: its counterpart here. Replaces
/// clap's own tip, which is the flag with the most similar name.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let command = std::env::args_os().nth(1);
    let takes_keys = command.is_some_and(|given| COMMANDS.iter().any(|name| given == *name));
    if error.kind() != ErrorKind::UnknownArgument || !takes_keys {
        return error;
    }
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.strip_prefix("--"),
        _ => None,
    };
    if let Some(tip) = flag.and_then(explain_flag) {
        error.remove(ContextKind::SuggestedArg);
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Selection of the keys that a command accepts.
pub(crate) trait NodeKeySelection {
    /// Heading of the flags in the help text.
    const HEADING: &'static str;

    /// Whether the command accepts a key.
    fn takes(key: &ConfigKey) -> bool;

    /// Whether `-h` lists a key; `--help` lists all.
    fn is_common(key: &ConfigKey) -> bool;

    /// Returns the help text of a key.
    fn help(key: &ConfigKey) -> &'static str {
        key.help
    }
}

/// Flags named as in `undertone node`: a configuration file, and the keys of `S`.
pub(crate) struct NodeFlags<S> {
    config_file: Option<PathBuf>,
    flags: Vec<(String, String)>,
    selection: PhantomData<S>,
}

impl<S> NodeFlags<S> {
    /// Returns the sources of the configuration: file, environment and these flags.
    pub(crate) fn sources(&self) -> Sources {
        Sources::from_process(self.config_file.clone(), self.flags.clone())
    }

    /// Whether the user may have set a key. If there is a configuration file, any key may be set.
    #[cfg(feature = "chat")]
    pub(crate) fn may_set(&self, name: &str) -> bool {
        let key = KEYS.iter().find(|key| key.name == name);
        let variable = key.and_then(|key| std::env::var_os(key.variable()));
        self.flags.iter().any(|(flag, _)| flag == name)
            || variable.is_some()
            || self.config_file.is_some()
    }
}

impl<S> Default for NodeFlags<S> {
    fn default() -> Self {
        Self {
            config_file: None,
            flags: Vec::new(),
            selection: PhantomData,
        }
    }
}

impl<S> fmt::Debug for NodeFlags<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeFlags")
            .field("config_file", &self.config_file)
            .field("flags", &self.flags)
            .finish()
    }
}

impl<S: NodeKeySelection> clap::FromArgMatches for NodeFlags<S> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let keys = KEYS.iter().filter(|key| S::takes(key));
        let flags = keys.filter_map(|key| {
            let value = matches.get_one::<String>(key.name)?;
            Some((key.name.to_owned(), value.clone()))
        });
        Ok(Self {
            flags: flags.collect(),
            config_file: matches.get_one::<PathBuf>("config-file").cloned(),
            selection: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: NodeKeySelection> clap::Args for NodeFlags<S> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let file = clap::Arg::new("config-file")
            .long("config-file")
            .value_name("FILE")
            .env("UNDERTONE_CONFIG_FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading(S::HEADING)
            .help("TOML file with the keys of a node; environment and flags override it");
        let keys = KEYS
            .iter()
            .filter(|key| S::takes(key))
            .map(|key| flag(key, S::help(key), S::HEADING).hide_short_help(!S::is_common(key)));
        command.arg(file).args(keys)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}
