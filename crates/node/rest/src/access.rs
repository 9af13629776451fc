//! Access control: the `Host`, `Origin` and `Sec-Fetch-Site` headers of a request, and its bearer token.
//!
//! A browser sends requests to this node for any web page that asks it to, even if the page may not read the
//! answer. Such a request is recognised by the headers that the browser adds and the page cannot change.

use std::net::{IpAddr, Ipv4Addr};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, Uri,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST,
            HeaderName, ORIGIN, VARY,
        },
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use subtle::ConstantTimeEq as _;

use super::{App, errors::ApiError, ok, unknown_route};

#[cfg(test)]
#[path = "tests/access.rs"]
mod tests;

/// Header in which a browser says where a request came from; pages cannot set it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Paths that answer without a token. Process supervisors poll the health, and a browser opens pages without
/// an `Authorization` header. The pages contain no data of the node; their scripts request it with the token.
const ALWAYS_OPEN: [&str; 6] = ["/", "/docs", "/health", "/page.css", "/page.js", "/readyz"];

/// Access rules of the REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// IP address that the API listens on; a request may name it as its host.
    pub address: IpAddr,
    /// Host names that requests may use, besides loopback and `address`; `*` for any.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the API: `https://app.example`, or host and port. `*` stands for any
    /// characters and `?` for one.
    pub origins: Vec<String>,
    /// Bearer token that requests must show; `None` for no token.
    pub token: Option<AccessToken>,
}

/// A bearer token and the paths that require it.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The token's text, a secret.
    pub secret: String,
    /// Paths that require the token.
    pub scope: TokenScope,
}

/// Paths that require a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenScope {
    /// Only paths under `/admin`.
    Admin,
    /// All paths but `/health`, `/readyz` and the pages `/` and `/docs`.
    Everything,
}

impl std::fmt::Debug for AccessToken {
    /// Omits the secret, because configurations are logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            hosts: Vec::new(),
            origins: Vec::new(),
            token: None,
        }
    }
}

/// Refuses requests that [`Access`] does not admit, and answers CORS preflights of allowed origins.
pub(super) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let access = &app.config.access;
    let (method, headers) = (request.method(), request.headers());
    let foreign = match access.admits(request.uri(), headers) {
        Ok(foreign) => foreign,
        Err(refusal) => {
            tracing::debug!(
                path = request.uri().path(),
                ?refusal,
                "REST request refused"
            );
            return refusal.into_response();
        }
    };
    let asks_ahead = foreign.is_some()
        && method == Method::OPTIONS
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks_ahead {
        ok()
    } else if let Err(refusal) = access.authorizes(request.uri().path(), headers) {
        refusal.into_response()
    } else if method == Method::HEAD {
        // nwaku has no HEAD routes, and axum would answer HEAD as GET, which empties caches.
        unknown_route(State(app), method.clone(), request.uri().clone()).await
    } else {
        next.run(request).await
    };
    if let Some(origin) = foreign {
        allow(response.headers_mut(), origin);
    }
    response
}

/// Tells the browser that pages of `origin` may read the answer.
fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("origin"));
    let methods = HeaderValue::from_static("GET, POST, PUT, DELETE, OPTIONS");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    let named = HeaderValue::from_static("content-type, authorization, last-event-id");
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, named);
}

impl Access {
    /// Checks whether the request may be answered; returns its origin if it is an allowed page's.
    fn admits(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HeaderValue>, ApiError> {
        let named = headers.get_all(HOST).iter();
        let hosts = named.map(|value| value.to_str().unwrap_or_default());
        let hosts: Vec<_> = hosts.chain(uri.authority().map(|a| a.as_str())).collect();
        // Browsers always name a host, so a request without one does not come from a web page.
        if let Some(stranger) = hosts.iter().find(|host| !self.knows_host(host)) {
            return Err(ApiError::Forbidden(format!(
                "Host {stranger:?} is not one of this node's; add its name to rest-allow-host"
            )));
        }
        let Some(origin) = headers.get(ORIGIN) else {
            return self.is_no_foreign_page(headers).map(|()| None);
        };
        let text = origin.to_str().unwrap_or_default();
        let (_, authority) = text.split_once("://").unwrap_or_default();
        let is_own = !authority.is_empty() && hosts.contains(&authority);
        if is_own {
            Ok(None)
        } else if self.allows_origin(text) {
            Ok(Some(origin.clone()))
        } else {
            Err(ApiError::Forbidden(format!(
                "Web pages of origin {text:?} may not use this node; add it to rest-allow-origin"
            )))
        }
    }

    /// Checks a request without an `Origin` header. Images, links and frames of other sites send none, but
    /// browsers mark such requests with `Sec-Fetch-Site`.
    fn is_no_foreign_page(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let anybody = self.origins.iter().any(|pattern| pattern == "*");
        match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) if anybody => Ok(()),
            Some(_) => Err(ApiError::Forbidden(
                "Pages of other web sites may not use this node".into(),
            )),
        }
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        let listed = |entry: &String| {
            entry == "*" || entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(name)
        };
        if self.hosts.iter().any(listed) {
            return true;
        }
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        // The owner of a name can make it resolve to this node; an address cannot be redirected.
        match bare.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || ip == self.address || self.address.is_unspecified(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let (_, authority) = origin.split_once("://").unwrap_or_default();
        self.origins.iter().any(|pattern| {
            let subject = if pattern.contains("://") || pattern == "*" {
                origin
            } else {
                authority
            };
            fits(&pattern.to_ascii_lowercase(), &subject.to_ascii_lowercase())
        })
    }

    /// Whether requests of a path must show the token.
    pub(super) fn needs_token(&self, path: &str) -> bool {
        match self.token.as_ref().map(|token| token.scope) {
            None => false,
            Some(TokenScope::Admin) => path.starts_with("/admin/"),
            Some(TokenScope::Everything) => !ALWAYS_OPEN.contains(&path),
        }
    }

    fn authorizes(&self, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let shown = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| secret.trim());
        let is_right =
            shown.is_some_and(|shown| shown.as_bytes().ct_eq(token.secret.as_bytes()).into());
        if is_right || !self.needs_token(path) {
            return Ok(());
        }
        let text = match shown {
            Some(_) => {
                "The token of this request is not the node's: compare it with rest-token, or with the file \
                 rest-token in data-dir"
            }
            None => "This path needs the node's token: Authorization: Bearer TOKEN, see rest-token",
        };
        Err(ApiError::Unauthorized(text.into()))
    }
}

/// Returns the host of `host:port`; an IPv6 address keeps its brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => {
            // In a bare IPv6 address the last colon does not separate a port.
            if name.contains(':') && !name.ends_with(']') {
                host
            } else {
                name
            }
        }
        _ => host,
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for any characters and `?` for one.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(b) if *b == b'?' || *b == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, t) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}
