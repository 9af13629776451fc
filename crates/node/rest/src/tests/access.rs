use super::*;

fn admits(access: &Access, headers: &[(&'static str, &str)]) -> Result<bool, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let admitted = access.admits(&Uri::from_static("/health"), &map);
    admitted
        .map(|origin| origin.is_some())
        .map_err(|refusal| format!("{refusal:?}"))
}

#[test]
fn a_node_is_known_by_loopback_its_address_and_what_is_listed() {
    let access = Access {
        address: "10.0.0.5".parse().unwrap(),
        hosts: vec!["node.example".into(), "nwaku:8645".into()],
        ..Access::default()
    };
    for host in [
        "localhost",
        "LOCALHOST:8645",
        "127.0.0.1:8645",
        "127.8.8.8",
        "[::1]:8645",
        "::1",
        "10.0.0.5:1",
        "node.example",
        "Node.Example:80",
        "nwaku:8645",
    ] {
        assert_eq!(admits(&access, &[("host", host)]), Ok(false), "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:8645",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.6:8645",
        "nwaku:1",
        "",
        "[::2]:8645",
    ] {
        assert!(admits(&access, &[("host", host)]).is_err(), "{host}");
    }
    let two = [("host", "localhost"), ("host", "evil.example")];
    assert!(admits(&access, &two).is_err(), "each of two");
    let everywhere = Access {
        address: "0.0.0.0".parse().unwrap(),
        ..Access::default()
    };
    assert_eq!(admits(&everywhere, &[("host", "10.0.0.6:8645")]), Ok(false));
    assert!(admits(&everywhere, &[("host", "evil.example")]).is_err());
}

#[test]
fn pages_of_other_origins_are_refused_unless_listed() {
    let host = ("host", "127.0.0.1:8645");
    let closed = Access::default();
    let own = [host, ("origin", "http://127.0.0.1:8645")];
    assert_eq!(admits(&closed, &own), Ok(false));
    for origin in [
        "http://127.0.0.1:3000",
        "https://evil.example",
        "null",
        "",
        "http://",
    ] {
        assert!(admits(&closed, &[host, ("origin", origin)]).is_err());
    }
    let open = |patterns: &[&str]| Access {
        origins: patterns.iter().map(|&p| p.to_owned()).collect(),
        ..Access::default()
    };
    for (pattern, origin, allowed) in [
        ("https://app.example", "https://app.example", true),
        ("https://app.example", "http://app.example", false),
        (
            "https://app.example",
            "https://app.example.evil.example",
            false,
        ),
        ("app.example", "https://app.example", true),
        ("localhost:*", "http://localhost:3000", true),
        ("localhost:*", "http://localhost", false),
        ("*.example", "https://a.b.example", true),
        ("*.example", "https://example", false),
        ("local?ost:1", "http://localhost:1", true),
        ("*", "null", true),
    ] {
        let admitted = admits(&open(&[pattern]), &[host, ("origin", origin)]);
        assert_eq!(admitted.is_ok(), allowed, "{pattern} {origin}");
    }
}

#[test]
fn what_a_browser_calls_foreign_is_refused_without_an_origin_too() {
    let host = ("host", "127.0.0.1:8645");
    let closed = Access::default();
    for (site, admitted) in [
        ("none", true),
        ("same-origin", true),
        ("same-site", false),
        ("cross-site", false),
    ] {
        let answer = admits(&closed, &[host, ("sec-fetch-site", site)]);
        assert_eq!(answer.is_ok(), admitted, "{site}");
    }
    let anybody = Access {
        origins: vec!["*".into()],
        ..Access::default()
    };
    assert_eq!(
        admits(&anybody, &[host, ("sec-fetch-site", "cross-site")]),
        Ok(false)
    );
}

#[test]
fn a_wrong_token_is_told_from_a_missing_one() {
    let access = Access {
        token: Some(AccessToken {
            secret: "0123456789abcdef".into(),
            scope: TokenScope::Everything,
        }),
        ..Access::default()
    };
    let says = |shown: Option<&str>| {
        let mut headers = HeaderMap::new();
        if let Some(shown) = shown {
            headers.insert(AUTHORIZATION, shown.parse().unwrap());
        }
        let answer = access.authorizes("/info", &headers);
        answer.map_err(|refusal| format!("{refusal:?}"))
    };
    assert_eq!(says(Some("Bearer 0123456789abcdef")), Ok(()));
    let missing = says(None).unwrap_err();
    assert!(missing.contains("needs the node's token"), "{missing}");
    let wrong = says(Some("Bearer another")).unwrap_err();
    assert!(wrong.contains("is not the node's"), "{wrong}");
}
