//! The description of the API against the router, and the page to try it.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::Value;
use undertone_node::rest::{Access, AccessToken, RestConfig, TokenScope};

use crate::rest::support::{Api, Script, config};

const UNKNOWN: &str = "Bad request initiated. Invalid path or method used.";

async fn document(api: &Api) -> Value {
    let (status, text) = api.get("/openapi.json").await;
    assert_eq!(status, StatusCode::OK);
    serde_json::from_str(&text).unwrap()
}

/// Methods of each path of the description.
fn described(document: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let paths = document["paths"].as_object().unwrap();
    let methods = |item: &Value| {
        let item = item.as_object().unwrap();
        item.keys().map(|method| method.to_uppercase()).collect()
    };
    paths
        .iter()
        .map(|(path, item)| (path.clone(), methods(item)))
        .collect()
}

/// Paths of the router, which it lists only in its debug form.
fn routed(api: &Api) -> BTreeSet<String> {
    let text = format!("{:?}", api.router());
    let paths = text.split('"').filter(|part| part.starts_with('/'));
    // The fallback has a path of its own, and "/", which is the page's too.
    paths
        .filter(|path| !path.contains("{*"))
        .map(str::to_owned)
        .collect()
}

/// Methods that a path answers: any other leads to the answer for unknown routes.
async fn answered(api: &Api, path: &str) -> BTreeSet<String> {
    let path = path.replace(['{', '}'], "x");
    let mut methods = BTreeSet::new();
    for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
        let request = Request::builder()
            .method(method)
            .uri(&path)
            .body(Body::empty());
        let response = api.answer(request.unwrap()).await;
        let status = response.status();
        // A stream does not end.
        let is_unknown = status == StatusCode::NOT_FOUND && {
            let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await;
            bytes.unwrap() == UNKNOWN
        };
        if !is_unknown {
            methods.insert(method.to_owned());
        }
    }
    methods
}

#[tokio::test]
async fn every_route_is_described_and_nothing_else_is() {
    let api = Api::start(Script::default());
    let described = described(&document(&api).await);
    let routed = routed(&api);
    assert!(
        routed.len() > 25,
        "the router's debug form lists its paths: {routed:?}"
    );
    assert_eq!(described.keys().cloned().collect::<BTreeSet<_>>(), routed);
    for (path, methods) in &described {
        assert_eq!(answered(&api, path).await, *methods, "{path}");
    }
}

#[tokio::test]
async fn areas_that_are_off_are_not_described() {
    let off = RestConfig {
        relay: false,
        admin: false,
        ..config()
    };
    let api = Api::with_config(Script::default(), off);
    let described = described(&document(&api).await);
    let of = |area: &str| {
        described
            .keys()
            .filter(|path| path.starts_with(area))
            .count()
    };
    assert_eq!((of("/relay"), of("/admin"), of("/health")), (0, 0, 1));
}

#[tokio::test]
async fn operations_have_ids_of_their_own_and_references_lead_somewhere() {
    let api = Api::start(Script::default());
    let document = document(&api).await;
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{path}: {id}");
            assert!(operation["summary"].is_string(), "{path}");
        }
    }
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[tokio::test]
async fn the_token_is_described_where_it_is_asked_for() {
    for (scope, of_relay) in [(TokenScope::Admin, false), (TokenScope::Everything, true)] {
        let token = AccessToken {
            secret: "secret".into(),
            scope,
        };
        let access = Access {
            token: Some(token),
            ..Access::default()
        };
        let api = Api::with_config(Script::default(), RestConfig { access, ..config() });
        let request = Request::get("/openapi.json")
            .header("authorization", "Bearer secret")
            .body(Body::empty());
        let (_, text) = api.send(request.unwrap()).await;
        let document: Value = serde_json::from_str(&text).unwrap();
        let asks = |path: &str| {
            let operation = &document["paths"][path]["get"];
            let has_answer = operation["responses"]["401"].is_object();
            assert_eq!(operation["security"].is_array(), has_answer, "{path}");
            has_answer
        };
        assert!(asks("/admin/v1/peers"));
        let of_topic = "/relay/v1/auto/messages/{contentTopic}";
        assert_eq!(asks(of_topic), of_relay);
        assert!(asks("/admin/v1/status"));
        for open in ["/", "/page.css", "/page.js", "/health", "/docs", "/readyz"] {
            assert!(!asks(open), "{open}");
        }
        assert_eq!(
            document["components"]["securitySchemes"]["token"]["scheme"],
            "bearer"
        );
        let (status, _) = api.get("/docs").await;
        assert_eq!(
            status,
            StatusCode::OK,
            "a browser opens it without a header"
        );
        for open in ["/", "/page.css", "/page.js"] {
            assert_eq!(api.get(open).await.0, StatusCode::OK, "{open}");
        }
        let (status, _) = api.get("/admin/v1/status").await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        let (status, _) = api.get("/openapi.json").await;
        assert_eq!(status == StatusCode::UNAUTHORIZED, of_relay);
    }
}

/// The page works without other hosts, and can do nothing but ask this node.
#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let api = Api::start(Script::default());
    let request = Request::get("/docs").body(Body::empty()).unwrap();
    let response = api.answer(request).await;
    let policy = response.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    let page = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(!page.contains("://"), "an address of another host");
    assert!(!page.contains("innerHTML"), "answers are shown as text");
    assert!(page.len() < 16_384, "{}", page.len());
}

#[tokio::test]
async fn the_page_of_the_state_has_a_strict_policy_and_shows_texts_as_text() {
    let api = Api::start(Script::default());
    for path in ["/", "/page.css", "/page.js"] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = api.answer(request).await;
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await;
        let text = String::from_utf8(bytes.unwrap().to_vec()).unwrap();
        assert!(!text.contains("://"), "{path}: an address of another host");
        for means in ["innerHTML", "outerHTML", "insertAdjacent", "document.write"] {
            assert!(!text.contains(means), "{path}: {means}");
        }
        assert!(text.len() < 16_384, "{path}: {}", text.len());
    }
    let foreign = Request::get("/")
        .header("host", "rebound.example")
        .body(Body::empty());
    assert_eq!(api.send(foreign.unwrap()).await.0, StatusCode::FORBIDDEN);
}
