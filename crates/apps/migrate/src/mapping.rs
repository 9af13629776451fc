//! Maps flags of the reference node to our keys, and reports the outcome for each flag.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use undertone_message::NetworkPreset;
use undertone_node::config::{KEYS, Kind};
use undertone_settings::nearest;

use crate::flags::{self, FLAGS, FlagFate};
use crate::read::{Found, GivenFlag};
use crate::release::Releases;
use crate::values::NewValue;

mod defaults;
mod networks;

/// Outcome for a flag of the deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagOutcome {
    /// The flag maps to one of our keys, or the migration used it.
    Kept,
    /// The flag is not needed here.
    NotNeeded,
    /// The flag has no counterpart: something is lost.
    NoCounterpart,
    /// The flag's value has no meaning here, or cannot be parsed.
    BadValue,
    /// The reference node has no such flag.
    Unknown,
}

/// Line of the report: a flag and its outcome.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct FlagLine {
    /// Name of the flag.
    pub flag: String,
    /// Value of the flag, unless it is a secret.
    pub value: String,
    /// Outcome for the flag.
    pub outcome: FlagOutcome,
    /// Our key, or the flag's use in the migration; empty if neither.
    pub becomes: String,
    /// Remark for the operator; often empty.
    pub remark: String,
    /// File and line.
    pub place: String,
}

/// All flags, mapped to our keys.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    /// Each key with its texts; keys that are not lists have one.
    pub(super) keys: BTreeMap<&'static str, Vec<String>>,
    pub(super) lines: Vec<FlagLine>,
    /// Values of the flags that the migration uses itself.
    used: BTreeMap<&'static str, String>,
    /// Remarks about keys that are not due to a single flag.
    pub(super) remarks: Vec<String>,
    /// Releases of the reference node that the flags may be for.
    releases: Releases,
}

impl Mapped {
    /// Maps all flags, in the order of their sources.
    pub(super) fn of(found: &Found) -> Self {
        let mut mapped = Self {
            releases: found.releases,
            ..Self::default()
        };
        for flag in &found.flags {
            let line = mapped.map(flag);
            mapped.lines.push(line);
        }
        mapped.networks();
        mapped.defaults();
        mapped.fit();
        mapped
    }

    /// Returns the value of a flag that the migration itself uses; `None` if it is empty.
    pub(super) fn secret(&self, name: &str) -> Option<&str> {
        self.used
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    fn map(&mut self, given: &GivenFlag) -> FlagLine {
        let known = flags::by_name(&given.name);
        let hidden = known.is_some_and(flags::KnownFlag::is_secret);
        let line = |outcome, becomes: &str, remark: String| FlagLine {
            flag: given.name.clone(),
            value: if hidden {
                "(not shown)".to_owned()
            } else {
                given.value.clone()
            },
            outcome,
            becomes: becomes.to_owned(),
            remark,
            place: given.place.clone(),
        };
        let Some(known) = known else {
            let near = nearest(&given.name, FLAGS.iter().map(|flag| flag.name));
            let near = near
                .map(|near| format!("; did you mean {near}?"))
                .unwrap_or_default();
            return line(
                FlagOutcome::Unknown,
                "",
                format!("the reference node has no such flag{near}"),
            );
        };
        match known.fate {
            FlagFate::NotNeeded(why) => line(FlagOutcome::NotNeeded, "", why.to_owned()),
            FlagFate::NoCounterpart(why) => line(FlagOutcome::NoCounterpart, "", why.to_owned()),
            FlagFate::Used(what) => {
                self.used.insert(known.name, given.value.clone());
                if known.name == "entry-node" {
                    self.entry_node(&given.value);
                }
                line(FlagOutcome::Kept, what, String::new())
            }
            // The reference node treats an empty value as none.
            FlagFate::Key(key, _) if given.value.is_empty() => {
                line(FlagOutcome::NotNeeded, key, "empty: left out".to_owned())
            }
            FlagFate::Key(key, rule) => match rule(&given.value) {
                Ok(NewValue {
                    text: Some(text),
                    remark,
                }) => {
                    self.set(key, text);
                    line(FlagOutcome::Kept, key, remark.unwrap_or_default())
                }
                Ok(NewValue { text: None, remark }) => {
                    line(FlagOutcome::NotNeeded, key, remark.unwrap_or_default())
                }
                Err(expected) => line(
                    FlagOutcome::BadValue,
                    key,
                    format!("expected {expected}; left out"),
                ),
            },
        }
    }

    /// Sets a key, or adds to it if it is a list.
    fn set(&mut self, key: &'static str, text: String) {
        let values = self.keys.entry(key).or_default();
        if !is_list(key) {
            values.clear();
        }
        values.push(text);
    }

    fn set_default(&mut self, key: &'static str, text: &str) {
        self.keys
            .entry(key)
            .or_insert_with(|| vec![text.to_owned()]);
    }

    fn is(&self, key: &str, text: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|values| values == &[text.to_owned()])
    }

    fn entry_node(&mut self, node: &str) {
        let key = match node {
            node if node.starts_with("enrtree:") => "dns-discovery-url",
            node if node.starts_with("enr:") => "discv5-bootstrap-node",
            _ => "static-peers",
        };
        self.set(key, node.to_owned());
    }

    /// Makes the keys consistent, as our configuration requires.
    fn fit(&mut self) {
        let loopback = |text: &String| {
            text.parse()
                .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        };
        let is_open = self
            .keys
            .get("rest-address")
            .is_some_and(|ip| !ip.iter().all(loopback));
        if self.is("rest", "true") && is_open {
            let auth = if self.is("rest-admin", "true") {
                "admin"
            } else {
                "none"
            };
            self.set("rest-auth", auth.to_owned());
            self.remarks.push(match auth {
                "none" => "rest-auth = none: REST keeps answering clients without a token; without this line a \
                           token is needed, as rest-address is not loopback",
                _ => "rest-auth = admin: REST keeps answering clients without a token, but /admin wants the one in \
                      data/rest-token",
            }.to_owned());
            self.remarks.push(
                "clients that reach REST by a host name need that name in rest-allow-host"
                    .to_owned(),
            );
        }
        if self.is("rest", "true") && !is_open && self.is("rest-admin", "true") {
            self.set("rest-auth", "none".to_owned());
            self.remarks.push(
                "rest-auth = none: /admin keeps answering the programs of this machine without a token; without this \
                 line it wants the one in data/rest-token"
                    .to_owned(),
            );
        }
        if self.is("relay", "false") {
            for key in ["filter", "lightpush"] {
                if self.is(key, "true") {
                    self.keys.remove(key);
                    self.remarks
                        .push(format!("{key} is left out: here it needs relay"));
                }
            }
        }
        if !self.is("store", "true") {
            for key in ["store-sync", "store-resume"] {
                if self.is(key, "true") {
                    self.keys.remove(key);
                    self.remarks
                        .push(format!("{key} is left out: here it needs store"));
                }
            }
        }
        if !self.keys.contains_key("rate-limit") {
            self.remarks.push(
                "from 0.39 on the reference node limits filter to 100/1s, lightpush and px to 5/1s unless told \
                 otherwise; here filter is limited to 30/1m for each peer: see rate-limit".to_owned(),
            );
        }
    }

    /// Omits the database if messages are copied into an archive of the new folder.
    pub(super) fn copy_archive(&mut self) {
        if self.keys.remove("store-message-db-url").is_some() {
            self.remarks.push(
                "store-message-db-url is left out: the archive that is copied goes into <data-dir>/store.sqlite"
                    .to_owned(),
            );
        }
    }

    /// Sets the membership's own limit. Without it the node would assume the network's limit and not find its
    /// membership.
    pub(super) fn set_message_limit(&mut self, limit: u32) {
        self.set("rln-message-limit", limit.to_string());
        if !self.is("relay", "false") && !self.is("lightpush", "false") {
            self.remarks.push(
                "lightpush: messages that light clients send without a proof are proved with this membership, of which a \
                 quarter of each epoch stays the node's own; lightpush-proofs = false refuses them"
                    .to_owned(),
            );
        }
    }

    /// Writes the configuration file.
    pub(super) fn to_toml(&self, data: &Path) -> String {
        let mut text = String::from(
            "# Made by `undertone migrate nwaku` from the flags of a node of nwaku.\n",
        );
        let mut write = |key: &str, value: String| {
            writeln!(text, "{key} = {value}").expect("writing to a String cannot fail");
        };
        write("data-dir", quoted(&data.display().to_string()));
        for (key, values) in &self.keys {
            let items: Vec<_> = values.iter().map(|value| scalar(key, value)).collect();
            match is_list(key) {
                true => write(key, format!("[{}]", items.join(", "))),
                false => write(key, items.concat()),
            }
        }
        text
    }

    /// Returns the network whose contract and parameters are built in; `None` if the deployment has another one.
    fn built_in(&self) -> Option<NetworkPreset> {
        let name = self.keys.get("network")?.first()?;
        NetworkPreset::by_name(name)
            .ok()
            .filter(|preset| preset.chain.is_some())
    }
}

fn kind(key: &str) -> Option<Kind> {
    KEYS.iter()
        .find(|known| known.name == key)
        .map(|known| known.kind)
}

fn is_list(key: &str) -> bool {
    matches!(kind(key), Some(Kind::TextList | Kind::IntegerList))
}

/// Formats a value as TOML. An invalid number remains text, which the configuration then rejects by name.
fn scalar(key: &str, value: &str) -> String {
    match kind(key) {
        Some(Kind::Bool) if ["true", "false"].contains(&value) => value.to_owned(),
        Some(Kind::Integer | Kind::IntegerList) if value.parse::<i64>().is_ok() => {
            value.parse::<i64>().unwrap_or_default().to_string()
        }
        _ => quoted(value),
    }
}

/// Formats a TOML string; TOML's escapes include those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
#[path = "tests/mapping.rs"]
mod tests;
