//! Rules that convert values of the reference node's flags to values of our keys.

/// Value for one of our keys, and a remark if the meaning changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NewValue {
    /// Text in the format of our flags; `None` leaves the key out.
    pub(crate) text: Option<String>,
    /// Remark for the operator.
    pub(crate) remark: Option<String>,
}

/// Conversion of one value; an error says what was expected.
pub(crate) type ValueRule = fn(&str) -> Result<NewValue, String>;

fn plain(text: impl Into<String>) -> NewValue {
    NewValue {
        text: Some(text.into()),
        remark: None,
    }
}

fn left_out(remark: &str) -> NewValue {
    NewValue {
        text: None,
        remark: Some(remark.to_owned()),
    }
}

/// Keeps the value as it is; our configuration checks it.
pub(crate) fn same(text: &str) -> Result<NewValue, String> {
    Ok(plain(text))
}

pub(crate) fn lowercase(text: &str) -> Result<NewValue, String> {
    Ok(plain(text.to_ascii_lowercase()))
}

/// Parses the Boolean values that Nim's `parseBool` accepts.
pub(crate) fn boolean(text: &str) -> Result<NewValue, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "y" | "on" => Ok(plain("true")),
        "false" | "0" | "no" | "n" | "off" => Ok(plain("false")),
        _ => Err("true or false".to_owned()),
    }
}

/// Keeps an explicit request to be reached through relays. Otherwise `auto`: relays are used once peers cannot
/// reach the node.
pub(crate) fn relay_client(text: &str) -> Result<NewValue, String> {
    let wish = boolean(text)?;
    Ok(match wish.text.as_deref() {
        Some("true") => wish,
        _ => plain("auto"),
    })
}

/// Keeps how the node is reached behind NAT; both nodes use the same words.
pub(crate) fn nat(text: &str) -> Result<NewValue, String> {
    let nat = text.to_ascii_lowercase();
    match nat.as_str() {
        "any" | "none" | "pmp" | "upnp" => Ok(plain(nat)),
        _ if nat.starts_with("extip:") => Ok(plain(nat)),
        _ => Err("any, none, upnp, pmp or extip:IP".to_owned()),
    }
}

/// Converts the address of the archive. A PostgreSQL database remains in use, with our tables beside the old ones.
pub(crate) fn archive_url(text: &str) -> Result<NewValue, String> {
    if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
        return Ok(left_out(
            "the archive has another form, in <data-dir>/store.sqlite; --archive copies one of SQLite",
        ));
    }
    Ok(NewValue {
        text: Some(text.to_owned()),
        remark: Some(
            "same database, new tables beside the old ones: messages kept so far are not copied; store-resume gets those \
             of the last hours from other stores"
                .to_owned(),
        ),
    })
}

/// Converts a chain id; 0 means "ask the endpoint".
pub(crate) fn chain_id(text: &str) -> Result<NewValue, String> {
    match text {
        "0" => Ok(left_out(
            "0 asks the endpoint; here the chain id must be named in rln-eth-chain-id",
        )),
        text => Ok(plain(text)),
    }
}

/// Parses a size such as `150KiB`, `1500 B` or `100KB`; bytes if there is no unit.
pub(crate) fn bytes(text: &str) -> Result<NewValue, String> {
    let expected = || "a size such as 150KiB, 100KB or 1500B".to_owned();
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| expected())?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "kib" => 1024,
        "mb" => 1_000_000,
        "mib" => 1024 * 1024,
        _ => return Err(expected()),
    };
    let bytes = number.checked_mul(unit).ok_or_else(expected)?;
    Ok(plain(bytes.to_string()))
}

/// Converts the maximum number of connections per address; 0 means "no limit".
pub(crate) fn colocation(text: &str) -> Result<NewValue, String> {
    match text {
        "0" => Ok(NewValue {
            text: Some(u32::MAX.to_string()),
            remark: Some("0 was no limit; max-connections still bounds all connections".to_owned()),
        }),
        text => Ok(plain(text)),
    }
}

/// Converts an origin of web pages. The reference node compares host and port only; here an origin needs a scheme
/// unless it has the form `localhost:*`.
pub(crate) fn origin(text: &str) -> Result<NewValue, String> {
    if text == "*" || text.contains("://") || text.starts_with("localhost:") {
        return Ok(plain(text));
    }
    if text.contains(['*', '?']) {
        return Ok(left_out(
            "wildcards within a name have no counterpart: list each origin in rest-allow-origin",
        ));
    }
    Ok(NewValue {
        text: Some(format!("https://{text}")),
        remark: Some(
            "an origin has a scheme here; add http:// too if pages are served without TLS"
                .to_owned(),
        ),
    })
}

/// Converts the deprecated switch, which has no effect without a list.
pub(crate) fn dns_discovery(text: &str) -> Result<NewValue, String> {
    let value = boolean(text)?;
    match value.text.as_deref() {
        Some("true") => Ok(left_out(
            "not needed: lists in dns-discovery-url switch it on",
        )),
        _ => Ok(value),
    }
}

/// Converts a request limit; `storev3` is the only store protocol here.
pub(crate) fn rate_limit(text: &str) -> Result<NewValue, String> {
    match text.split_once(':') {
        Some(("storev3", limit)) => Ok(plain(format!("store:{limit}"))),
        Some(("storev2", _)) => Ok(left_out("there is only the present store protocol (v3)")),
        _ => Ok(plain(text)),
    }
}

#[cfg(test)]
#[path = "tests/values.rs"]
mod tests;
