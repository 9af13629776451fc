//! Text and settings of a program that embeds the node.

use super::*;

fn load_text(text: &str, settings: &[(&str, &str)]) -> Result<NodeConfig, ConfigError> {
    NodeConfig::load(&Sources {
        text: Some(text.to_owned()),
        settings: flags(settings),
        ..Sources::default()
    })
}

#[test]
fn text_is_read_as_a_file_is_and_settings_override_it() {
    let text = "tcp-port = 1\nws-port = 2\nwebsocket = true\n[gossip]\nd = 7";
    let config = load_text(text, &[("tcp-port", "0"), ("gossip.d-low", "5")]).unwrap();
    assert_eq!((config.tcp_port, config.websocket_port), (0, Some(2)));
    assert_eq!((config.gossip.d, config.gossip.d_low), (Some(7), Some(5)));
}

#[test]
fn mistakes_in_either_name_place_and_key() {
    let error = load_text("rest = true\ntcp-prot = 1", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "configuration text:2: unknown key \"tcp-prot\"; did you mean \"tcp-port\"?"
    );
    assert_eq!(error.key(), Some("tcp-prot"));
    let error = load_text("", &[("gossip.d", "many")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "settings of the program: gossip.d = \"many\": expected a number of peers, 1 or more"
    );
    assert_eq!(error.key(), Some("gossip.d"));
}

#[test]
fn an_error_about_no_single_key_has_none() {
    assert_eq!(load_text("tcp-port = = 1", &[]).unwrap_err().key(), None);
    let unknown = load_text("network = \"nowhere\"", &[]).unwrap_err();
    assert_eq!(unknown.key(), Some("network"));
}
