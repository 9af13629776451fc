//! URLs of endpoints: their form, and which parts may be shown.

use super::error::RpcError;

#[cfg(test)]
#[path = "tests/url.rs"]
mod tests;

/// Characters that never occur in a URL; most are left over from a template, such as `<key>`.
const NEVER: [char; 9] = ['<', '>', '"', '{', '}', '|', '\\', '^', '`'];

/// Scheme and host of an endpoint's URL. User name, path and query may contain keys, so they are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointUrl {
    /// Scheme of the URL, which must be written in lower case.
    pub scheme: String,
    /// Host of the URL, with the port if there is one.
    pub host: String,
}

impl EndpointUrl {
    /// Parses a URL with one of the `schemes`.
    ///
    /// # Errors
    /// [`RpcError::Url`] for another scheme, a missing host, an invalid port, or characters that never occur
    /// in a URL.
    pub fn parse(url: &str, schemes: &[&str]) -> Result<Self, RpcError> {
        let name = without_credentials(url);
        let parts = name.split_once("://").filter(|(scheme, host)| {
            let is_legible = url
                .chars()
                .all(|c| c.is_ascii_graphic() && !NEVER.contains(&c));
            is_legible && schemes.contains(scheme) && is_host(host)
        });
        match parts {
            Some((scheme, host)) => Ok(Self {
                scheme: scheme.to_owned(),
                host: host.to_owned(),
            }),
            None => Err(RpcError::Url { url: name }),
        }
    }
}

/// Whether a text is a host, with or without a port. IPv6 addresses must be in brackets.
fn is_host(text: &str) -> bool {
    let end = match text.starts_with('[') {
        true => text.find(']').map(|at| at + 1),
        false => Some(text.find(':').unwrap_or(text.len())),
    };
    let Some((host, port)) = end.map(|end| text.split_at(end)) else {
        return false;
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    !host.is_empty() && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Returns the scheme and the host of a URL, for logs and errors. User name, path and query may contain keys.
pub fn without_credentials(url: &str) -> String {
    let (scheme, rest) = match url.find("://") {
        Some(at) => url.split_at(at + "://".len()),
        None => ("", url),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}")
}
