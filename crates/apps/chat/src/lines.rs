//! The chat in lines: one per event, for people or, as JSON, for programs.

use std::io::{self, Write};

use crate::events::{self, ChatEvent, clock};
use crate::session::Front;
use crate::typed::{Input, LINE_BYTES_MAX, Typed};

#[cfg(test)]
#[path = "tests/lines.rs"]
mod tests;

/// Front end that writes lines.
pub(crate) struct LineFront<W> {
    out: W,
    is_json: bool,
    goes_on: bool,
    /// Status that was reported last, without values that change every second.
    told: Option<(String, String)>,
}

impl<W: Write> LineFront<W> {
    /// Creates a front end that writes to `out`. With `goes_on`, the chat continues after the end of the
    /// input.
    pub(crate) fn new(out: W, is_json: bool, goes_on: bool) -> Self {
        Self {
            out,
            is_json,
            goes_on,
            told: None,
        }
    }

    /// Whether an event needs to be reported; a status only if it has changed.
    fn is_news(&mut self, event: &ChatEvent) -> bool {
        let ChatEvent::Status { status, .. } = event else {
            return true;
        };
        let told = Some((status.connection(), status.publishing_gist()));
        let is_news = self.told != told;
        self.told = told;
        is_news
    }
}

impl<W: Write> Front for LineFront<W> {
    fn show(&mut self, event: &ChatEvent) -> io::Result<()> {
        if !self.is_news(event) {
            return Ok(());
        }
        if self.is_json {
            return match event.json() {
                Some(json) => writeln!(self.out, "{json}"),
                None => Ok(()),
            };
        }
        for line in lines(event) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn typed(&mut self, input: Input) -> io::Result<Option<Typed>> {
        Ok(match input {
            Input::Line(line) if self.is_json => (!line.is_empty()).then_some(Typed::Text(line)),
            Input::Line(line) => Typed::read(&line),
            Input::TooLong => Some(Typed::Refused(format!(
                "a line of more than {LINE_BYTES_MAX} bytes was not sent"
            ))),
            Input::End if self.goes_on => None,
            Input::End => Some(Typed::End),
            Input::Terminal(_) | Input::Suspend | Input::Resume => None,
        })
    }

    fn waits(&self) -> bool {
        true
    }
}

/// Formats an event as lines for people. Only messages have brackets after the time.
fn lines(event: &ChatEvent) -> Vec<String> {
    match event {
        ChatEvent::Ready(ready) => {
            let at = clock(ready.at_ms);
            let lines = events::beginning(ready).into_iter();
            lines.map(|line| format!("{at} * {line}")).collect()
        }
        ChatEvent::Message(message) => {
            let parts: String = message.parts().into_iter().map(|(_, text)| text).collect();
            vec![format!("{} {parts}", clock(message.at_ms))]
        }
        ChatEvent::Unreadable { at_ms, reason } => {
            vec![format!(
                "{} ! cannot read a message: {reason}",
                clock(*at_ms)
            )]
        }
        ChatEvent::Own {
            at_ms,
            number,
            state,
            ..
        } => {
            let sign = if state.is_warning() { '!' } else { '*' };
            vec![format!(
                "{} {sign} message {number}: {}",
                clock(*at_ms),
                state.words()
            )]
        }
        ChatEvent::Status { at_ms, status } => vec![format!(
            "{} * {}; {}",
            clock(*at_ms),
            status.connection(),
            status.publishing()
        )],
        ChatEvent::Note { at_ms, said } => vec![format!("{} * {said}", clock(*at_ms))],
    }
}
