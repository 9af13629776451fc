//! Who may use the API: pages of other origins, strangers' host names, tokens.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use undertone_message::WakuMessage;
use undertone_node::rest::{Access, AccessToken, RestConfig, TokenScope};

use crate::rest::support::{Api, Script, answer_ok, config, shard};

const MESSAGES: &str = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";
const MESSAGE: &str = r#"{"payload": "aGk=", "contentTopic": "/a/1/b/proto"}"#;
const SECRET: &str = "0123456789abcdef";

fn api(access: Access) -> Api {
    let config = RestConfig { access, ..config() };
    Api::with_config(Script::default(), config)
}

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let body = match method {
        "POST" => Body::from(MESSAGE),
        _ => Body::empty(),
    };
    builder.body(body).unwrap()
}

const JSON: (&str, &str) = ("content-type", "application/json");
const HOST: (&str, &str) = ("host", "127.0.0.1:8645");
const EVIL: (&str, &str) = ("origin", "https://evil.example");

#[tokio::test]
async fn a_page_of_another_origin_neither_publishes_nor_empties_the_cache() {
    let api = api(Access::default());
    let message = WakuMessage::new(&b"hi"[..], "/a/1/b/proto");
    api.deliver(shard(0), message);
    let image = [HOST, ("sec-fetch-site", "cross-site")];
    for attempt in [
        request("POST", MESSAGES, &[HOST, EVIL, JSON]),
        request("POST", MESSAGES, &[HOST, ("origin", "null"), JSON]),
        request("GET", MESSAGES, &[HOST, EVIL]),
        request("GET", MESSAGES, &image),
        request("GET", MESSAGES, &[HOST, ("sec-fetch-site", "same-site")]),
        request("GET", MESSAGES, &[("host", "evil.example:8645")]),
        request("POST", MESSAGES, &[("host", "evil.example:8645"), JSON]),
    ] {
        let what = format!("{} {:?}", attempt.method(), attempt.headers());
        assert_eq!(api.send(attempt).await.0, StatusCode::FORBIDDEN, "{what}");
    }
    assert!(api.asked().is_empty());
    let (status, kept) = api.send(request("GET", MESSAGES, &[HOST])).await;
    assert_eq!(status, StatusCode::OK);
    assert!(kept.contains("aGk="), "{kept}");
    let own = request("POST", MESSAGES, &[HOST, JSON]);
    assert_eq!(api.send(own).await, answer_ok());
}

#[tokio::test]
async fn an_allowed_origin_is_told_so_by_the_browsers_rules() {
    let api = api(Access {
        origins: vec!["https://app.example".into()],
        ..Access::default()
    });
    let origin = ("origin", "https://app.example");
    let ahead = [HOST, origin, ("access-control-request-method", "POST")];
    let answer = api.answer(request("OPTIONS", MESSAGES, &ahead)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let headers = answer.headers();
    assert_eq!(headers["access-control-allow-origin"], origin.1);
    assert_eq!(headers["vary"], "origin");
    let named = headers["access-control-allow-headers"].to_str().unwrap();
    assert!(named.contains("content-type"), "{named}");
    let answer = api
        .answer(request("POST", MESSAGES, &[HOST, origin, JSON]))
        .await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["access-control-allow-origin"], origin.1);
    assert_eq!(api.asked().len(), 1, "the question ahead publishes nothing");
    let evil = api
        .answer(request("OPTIONS", MESSAGES, &[HOST, EVIL]))
        .await;
    assert_eq!(evil.status(), StatusCode::FORBIDDEN);
    assert!(!evil.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_token_is_asked_for_where_it_is_needed() {
    let with = |scope| {
        let secret = SECRET.to_owned();
        api(Access {
            token: Some(AccessToken { secret, scope }),
            ..Access::default()
        })
    };
    let right = format!("Bearer {SECRET}");
    let wrong = format!("Bearer {SECRET}0");
    let status = async |api: &Api, path, shown: Option<&str>| {
        let headers: Vec<_> = shown.map(|s| ("authorization", s)).into_iter().collect();
        api.send(request("GET", path, &headers)).await.0.as_u16()
    };
    let admin = with(TokenScope::Admin);
    let all = with(TokenScope::Everything);
    for (api, path, without) in [
        (&admin, "/admin/v1/peers", 401),
        (&admin, "/admin/v1/nope", 401),
        (&admin, "/info", 200),
        (&all, "/info", 401),
        (&all, MESSAGES, 401),
        (&all, "/metrics/nope", 401),
        (&all, "/health", 200),
        (&all, "/readyz", 200),
    ] {
        assert_eq!(status(api, path, None).await, without, "{path}");
        assert_eq!(status(api, path, Some(&wrong)).await, without, "{path}");
        assert_eq!(status(api, path, Some(SECRET)).await, without, "{path}");
        let shown = status(api, path, Some(&right)).await;
        assert_ne!(shown, 401, "{path}");
    }
    let answer = all.answer(request("GET", "/info", &[])).await;
    assert_eq!(answer.headers()["www-authenticate"], "Bearer");
}
