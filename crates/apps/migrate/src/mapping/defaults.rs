//! Defaults of the reference node for flags that are not set; they changed from release to release.
//!
//! Source: repository logos-messaging/logos-delivery, tags v0.33.0 to v0.38.1, `waku/factory/external_config.nim` and
//! `tools/confutils/cli_args.nim`; for 0.39 the latter of September 2026, with the prefix `logos_delivery_node`.

use super::Mapped;

/// Value and the release from which on it applies.
type Since = (u16, &'static str);

/// Keys whose default differs from ours, or once did.
const DEFAULTS: [(&str, &[Since]); 7] = [
    ("rest", &[(0, "true"), (38, "false")]),
    ("filter", &[(0, "false"), (39, "true")]),
    ("lightpush", &[(0, "false"), (39, "true")]),
    ("peer-exchange", &[(0, "false"), (37, "true")]),
    ("discv5-discovery", &[(0, "false"), (39, "true")]),
    ("max-connections", &[(0, "50"), (38, "150")]),
    ("nat", &[(0, "any")]),
];

/// Key for the number of shards over which content topics are spread.
const NUM_SHARDS: &str = "num-shards-in-network";
/// Up to 0.36, no number meant all possible shards; since then 0 means static sharding.
const NUM_SHARDS_DEFAULT: &[Since] = &[(0, "1024"), (UNSPREAD, "1"), (38, "0")];
const UNSPREAD: u16 = 37;
/// Shards joined up to 0.36 if none was named.
const FIRST_SHARDS: std::ops::Range<u16> = 0..8;

/// A default that was written to the configuration.
struct Written {
    /// Key and value.
    text: String,
    /// The values in the releases in question; empty if there is only one.
    was: String,
}

impl Mapped {
    /// Writes the defaults. If a default depends on the release and that is unknown, takes the value that loses
    /// nothing.
    pub(super) fn defaults(&mut self) {
        self.mode();
        let (mut sure, mut unsure) = (Vec::new(), Vec::new());
        for (key, values) in DEFAULTS {
            match self.default_of(key, values) {
                Some(Written { text, was }) if was.is_empty() => sure.push(text),
                Some(Written { text, was }) => unsure.push(format!("{text} (was {was})")),
                None => {}
            }
        }
        let releases = self.releases;
        if !sure.is_empty() {
            let written = sure.join(", ");
            self.remarks.push(format!(
                "defaults of the reference node ({releases}) are written out: {written}"
            ));
        }
        if !unsure.is_empty() {
            let written = unsure.join(", ");
            self.remarks.push(format!(
                "which release ran is not known ({releases}), and these defaults changed; what serves more is taken, \
                 name the release with --release: {written}"
            ));
        }
    }

    /// Sets the number of shards if no flag does, so that autosharding is not lost.
    pub(super) fn default_shards(&mut self) {
        let releases = self.releases;
        let is_before = releases.last < UNSPREAD;
        if is_before && self.is(NUM_SHARDS, "0") {
            self.keys.remove(NUM_SHARDS);
        }
        let written = self.default_of(NUM_SHARDS, NUM_SHARDS_DEFAULT);
        if is_before && !self.keys.contains_key("shards") {
            let shards = FIRST_SHARDS.map(|shard| shard.to_string());
            self.keys.insert("shards", shards.collect());
        }
        if let Some(Written { text, was }) = written {
            self.remarks.push(match was.is_empty() {
                true => format!("{text}: the default of the reference node ({releases})"),
                false => format!(
                    "{text}: which release ran is not known ({releases}), and the default was {was}; automatic sharding \
                     stays on, but a wrong number gives content topics other shards than their peers use: name the \
                     release with --release"
                ),
            });
        }
    }

    /// Sets the keys that the flag `mode` switches on or off. Up to 0.38 it overrode other flags.
    fn mode(&mut self) {
        let mode = self.secret("mode").map(str::to_ascii_lowercase);
        let (keys, value): (&[&'static str], _) = match mode.as_deref() {
            Some("edge") => (&["relay", "filter", "lightpush", "store"], "false"),
            Some("core") => (
                &[
                    "relay",
                    "filter",
                    "lightpush",
                    "discv5-discovery",
                    "peer-exchange",
                ],
                "true",
            ),
            _ => return,
        };
        for key in keys.iter().copied() {
            match self.releases.last < 39 {
                true => self.set(key, value.to_owned()),
                false => self.set_default(key, value),
            }
        }
    }

    /// Sets a key to its default unless a flag has set it.
    fn default_of(&mut self, key: &'static str, values: &[Since]) -> Option<Written> {
        if self.keys.contains_key(key) {
            return None;
        }
        let ends = values.iter().skip(1).map(|(from, _)| *from);
        let spans = values.iter().zip(ends.chain([u16::MAX]));
        let of_releases = spans
            .filter(|((from, _), end)| *from <= self.releases.last && self.releases.first < *end);
        let of_releases: Vec<Since> = of_releases.map(|(since, _)| *since).collect();
        let possible: Vec<Since> = of_releases
            .iter()
            .copied()
            .filter(|(_, value)| key != NUM_SHARDS || self.has_shards_below(value))
            .collect();
        let possible = match possible.is_empty() {
            true => of_releases,
            false => possible,
        };
        let is_on = |since: &&Since| !["false", "0"].contains(&since.1);
        let (_, value) = possible.iter().rfind(is_on).or(possible.last())?;
        let was = match possible.as_slice() {
            [] | [_] => String::new(),
            [(_, first), later @ ..] => {
                let later = later
                    .iter()
                    .map(|(from, value)| format!(", from 0.{from} on {value}"));
                format!("{first}{}", later.collect::<String>())
            }
        };
        self.set(key, (*value).to_owned());
        Some(Written {
            text: format!("{key} = {value}"),
            was,
        })
    }

    /// Whether a node with this number of shards could have joined the named shards; otherwise it would not have
    /// started.
    fn has_shards_below(&self, num_shards: &str) -> bool {
        let num_shards: u16 = num_shards.parse().unwrap_or_default();
        let mut named = self.keys.get("shards").into_iter().flatten();
        num_shards == 0
            || named.all(|shard| shard.parse().is_ok_and(|shard: u16| shard < num_shards))
    }
}
