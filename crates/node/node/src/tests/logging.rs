use super::*;

#[test]
fn the_configured_level_counts_unless_the_variable_is_set() {
    let filter = |text| parse_filter(Level::WARN, text).unwrap();
    assert_eq!(filter(None), filter_of(Level::WARN));
    assert_eq!(filter(Some(" ")), filter_of(Level::WARN));
    assert_eq!(filter(Some("debug")).to_string(), "debug");
}

#[test]
fn libraries_say_no_more_than_at_debug() {
    let shows = |level, target, line| filter_of(level).would_enable(target, &line);
    for level in [Level::TRACE, Level::DEBUG] {
        assert!(shows(level, "undertone_network::driver", Level::DEBUG));
        assert!(shows(level, "libp2p_swarm", Level::DEBUG));
        assert!(!shows(level, "libp2p_swarm", Level::TRACE));
    }
    assert!(shows(Level::TRACE, "undertone", Level::TRACE));
    assert!(shows(
        Level::TRACE,
        "undertone_gossip::router",
        Level::TRACE
    ));
    assert!(!shows(Level::WARN, "libp2p_swarm", Level::INFO));
    assert!(!shows(Level::WARN, "undertone_node", Level::INFO));
}

#[test]
fn a_bad_filter_is_named() {
    let error = parse_filter(Level::INFO, Some("undertone=loud")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("UNDERTONE_LOG = \"undertone=loud\" is not a filter")
    );
}

/// Writer that keeps what is written, so that a test can inspect it.
#[derive(Clone, Default)]
struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_begins_with_three_letters_and_has_colours_only_when_asked_for() {
    let written = |ansi| {
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = fmt::layer()
            .with_writer(move || writer.clone())
            .with_ansi(ansi)
            .event_format(LogLine);
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::trace!("a");
            tracing::debug!("b");
            tracing::info!(peer = 7, "c");
            tracing::warn!("d");
            tracing::error!("e");
        });
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    };
    let plain = written(false);
    let letters: Vec<_> = plain.lines().map(|line| &line[..4]).collect();
    assert_eq!(letters, ["TRC ", "DBG ", "INF ", "WRN ", "ERR "]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let third = plain.lines().nth(2).unwrap();
    assert!(third.ends_with(": c peer=7"), "{third}");
    assert!(written(true).contains("\u{1b}[32mINF\u{1b}[0m "));
}
