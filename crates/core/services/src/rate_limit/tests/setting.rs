use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<RateLimits, RateLimitError> {
    text.parse()
}

fn of(text: &str, service: LimitedService) -> String {
    parse(text).unwrap().of(service).to_string()
}

#[test]
fn only_filter_and_rendezvous_are_limited_unless_set() {
    assert_eq!(of("", LimitedService::Filter), "30/1m");
    assert_eq!(of("", LimitedService::Rendezvous), "300/1m");
    for service in [
        LimitedService::Store,
        LimitedService::Lightpush,
        LimitedService::PeerExchange,
    ] {
        assert_eq!(of("", service), "no-limit");
    }
}

#[test]
fn each_service_has_its_limit_and_the_rest_has_the_common_one() {
    let text = "100/1m; store:3/2h ;lightpush:10/s;PX : 7 / 500 MS";
    assert_eq!(of(text, LimitedService::Store), "3/2h");
    assert_eq!(of(text, LimitedService::Lightpush), "10/1s");
    assert_eq!(of(text, LimitedService::PeerExchange), "7/500ms");
    assert_eq!(of("100/1m", LimitedService::PeerExchange), "100/1m");
    assert_eq!(
        of("100/1m", LimitedService::Filter),
        "30/1m",
        "never the common one"
    );
    assert_eq!(of("filter:5/90s", LimitedService::Filter), "5/90s");
    assert_eq!(of("100/1m", LimitedService::Rendezvous), "300/1m");
    assert_eq!(of("rendezvous:7/1s", LimitedService::Rendezvous), "7/1s");
}

#[test]
fn the_exact_name_of_store_goes_first_and_else_the_last_item() {
    assert_eq!(of("storev3:1/1s;store:2/1s", LimitedService::Store), "1/1s");
    assert_eq!(of("store:2/1s;storev3:1/1s", LimitedService::Store), "1/1s");
    assert_eq!(of("px:1/1s;px:2/1s", LimitedService::PeerExchange), "2/1s");
}

#[test]
fn items_may_come_one_by_one() {
    let limits = RateLimits::parse(["store:1/1s", "px:2/1s"]).unwrap();
    assert_eq!(limits.of(LimitedService::Store).volume, 1);
    assert_eq!(limits.of(LimitedService::PeerExchange).volume, 2);
}

#[test]
fn zero_means_no_limit() {
    assert_eq!(of("filter:0/1m", LimitedService::Filter), "no-limit");
    assert_eq!(of("filter:5/0m", LimitedService::Filter), "no-limit");
}

#[test]
fn errors_say_what_is_wrong_and_what_is_expected() {
    for (text, message) in [
        (
            "stroe:1/1s",
            "unknown service \"stroe\" in rate limit \"stroe:1/1s\"; expected store, storev3, lightpush, px, filter or rendezvous",
        ),
        (
            "px:10",
            "rate limit \"px:10\" must be [service:]volume/period, such as lightpush:10/1s",
        ),
        (
            "px:many/1s",
            "volume \"many\" in rate limit \"px:many/1s\" must be a number in 0..=4294967295",
        ),
        (
            "px:-1/1s",
            "volume \"-1\" in rate limit \"px:-1/1s\" must be a number in 0..=4294967295",
        ),
        (
            "px:+1/1s",
            "volume \"+1\" in rate limit \"px:+1/1s\" must be a number in 0..=4294967295",
        ),
        (
            "px:4294967296/1s",
            "volume \"4294967296\" in rate limit \"px:4294967296/1s\" must be a number in 0..=4294967295",
        ),
        (
            "px:1/1d",
            "period \"1d\" in rate limit \"px:1/1d\" must be a number with h, m, s or ms, such as 1m",
        ),
        (
            "px:1/1",
            "period \"1\" in rate limit \"px:1/1\" must be a number with h, m, s or ms, such as 1m",
        ),
        (
            "px:1/",
            "period \"\" in rate limit \"px:1/\" must be a number with h, m, s or ms, such as 1m",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn any_limit_is_read_as_shown(volume in 1_u32.., count in 1_u32.., unit in 0_usize..4) {
        let unit = ["h", "m", "s", "ms"][unit];
        let limits = parse(&format!("px:{volume}/{count}{unit}")).unwrap();
        let shown = limits.of(LimitedService::PeerExchange).to_string();
        prop_assert_eq!(parse(&format!("px:{shown}")), Ok(limits));
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9:/; ]{0,20}") {
        let _ = parse(&text);
    }
}
