//! Text form of a log line: level, time, target and message.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// Formats `INF 2026-01-02T03:04:05.678901Z undertone_network::driver: listening address=/ip4/…`, with nwaku's
/// three-letter levels, for which its users search.
pub(super) struct LogLine;

/// Returns the letters and ANSI colour of a level. nwaku's levels NTC and FTL have no counterpart here.
fn shown(level: Level) -> (&'static str, u8) {
    match level {
        Level::TRACE => ("TRC", 35),
        Level::DEBUG => ("DBG", 34),
        Level::INFO => ("INF", 32),
        Level::WARN => ("WRN", 33),
        Level::ERROR => ("ERR", 31),
    }
}

impl<S, N> FormatEvent<S, N> for LogLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (letters, colour) = shown(*event.metadata().level());
        if writer.has_ansi_escapes() {
            write!(writer, "\u{1b}[{colour}m{letters}\u{1b}[0m ")?;
        } else {
            write!(writer, "{letters} ")?;
        }
        SystemTime.format_time(&mut writer)?;
        write!(writer, " {}: ", event.metadata().target())?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
