//! Query parameters of a request.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

/// Parameters of a query, percent-decoded.
pub(super) struct QueryParams(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Every query can be decoded to pairs.
        let pairs = Query::try_from_uri(&parts.uri).map(|Query(pairs)| pairs);
        Ok(Self(pairs.unwrap_or_default()))
    }
}

impl QueryParams {
    /// Returns the value of a parameter; `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| &**value)
            .filter(|value| !value.is_empty())
    }

    /// Returns the values of a parameter that is a comma-separated list.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        self.get(name).into_iter().flat_map(|list| list.split(','))
    }
}
