//! Contents of the screen: a title, messages, the status, the input line.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthChar as _;

use super::input::InputLine;
use crate::chat_status::{ChatStatus, PublishAllowance};
use crate::events::{self, ChatEvent, Tone, clock};
use crate::own_messages::OwnState;
use crate::text;

#[cfg(test)]
#[path = "tests/view.rs"]
mod tests;

/// Maximum number of entries to scroll back through.
const ENTRIES_MAX: usize = 2000;

/// Indentation of an entry's further lines, in columns: the width of a time.
const INDENT: usize = 9;

/// Minimum width for indentation.
const INDENT_FROM: usize = 30;

const PROMPT: &str = "> ";

/// Contents of the screen.
pub(super) struct ScreenView {
    /// Line that the user edits.
    pub(super) input: InputLine,
    nick: String,
    title: String,
    is_encrypted: bool,
    entries: VecDeque<ScreenEntry>,
    status: Option<ChatStatus>,
    /// Number of lines below the last visible one.
    scrolled: usize,
    /// Height of the message area when it was last drawn, in lines.
    height: usize,
}

/// An entry of the list of messages.
struct ScreenEntry {
    /// Number of the own message, whose state is the last part; `None` for other entries.
    own: Option<u64>,
    parts: Vec<(Tone, String)>,
}

impl ScreenView {
    /// Creates an empty screen for the user with this name.
    pub(super) fn new(nick: &str) -> Self {
        Self {
            input: InputLine::default(),
            nick: nick.to_owned(),
            title: String::new(),
            is_encrypted: false,
            entries: VecDeque::new(),
            status: None,
            scrolled: 0,
            height: 0,
        }
    }

    /// Adds an event to the screen.
    pub(super) fn show(&mut self, event: &ChatEvent) {
        match event {
            ChatEvent::Ready(ready) => {
                self.title = format!("{} as {}", ready.content_topic, ready.nick);
                self.is_encrypted = ready.encrypted;
                for line in events::beginning(ready) {
                    self.add(ready.at_ms, None, vec![(Tone::Quiet, format!("* {line}"))]);
                }
                let keys = "* /help lists the commands; PageUp and PageDown scroll, ctrl-c ends";
                self.add(ready.at_ms, None, vec![(Tone::Quiet, keys.to_owned())]);
            }
            ChatEvent::Message(message) => self.add(message.at_ms, None, message.parts()),
            ChatEvent::Unreadable { at_ms, reason } => {
                let line = format!("! cannot read a message: {reason}");
                self.add(*at_ms, None, vec![(Tone::Warning, line)]);
            }
            ChatEvent::Own {
                at_ms,
                number,
                text: Some(own),
                state,
            } => {
                let name = (Tone::Name, format!("<{}> ", self.nick));
                let text = (Tone::Text, text::message(own.as_bytes()));
                self.add(*at_ms, Some(*number), vec![name, text, state_part(state)]);
            }
            ChatEvent::Own { number, state, .. } => {
                let mut entries = self.entries.iter_mut().rev();
                let entry = entries.find(|entry| entry.own == Some(*number));
                if let Some(last) = entry.and_then(|entry| entry.parts.last_mut()) {
                    *last = state_part(state);
                }
            }
            ChatEvent::Status { status, .. } => self.status = Some(status.clone()),
            ChatEvent::Note { at_ms, said } => {
                self.add(*at_ms, None, vec![(Tone::Quiet, format!("* {said}"))]);
            }
        }
    }

    /// Shows older messages.
    pub(super) fn scroll_up(&mut self) {
        self.scrolled = self.scrolled.saturating_add(self.page());
    }

    /// Shows newer messages.
    pub(super) fn scroll_down(&mut self) {
        self.scrolled = self.scrolled.saturating_sub(self.page());
    }

    /// Shows the newest messages.
    pub(super) fn scroll_to_end(&mut self) {
        self.scrolled = 0;
    }

    /// Returns the number of lines in a page; one line of the previous page stays visible.
    fn page(&self) -> usize {
        self.height.saturating_sub(1).max(1)
    }

    fn add(&mut self, at_ms: u64, own: Option<u64>, mut parts: Vec<(Tone, String)>) {
        parts.insert(0, (Tone::Quiet, format!("{} ", clock(at_ms))));
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(ScreenEntry { own, parts });
    }

    /// Draws the whole screen.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let (width, rows) = (usize::from(area.width), area.height);
        if width == 0 || rows == 0 {
            return;
        }
        // A small terminal loses the title first, then the status, and the input last.
        let status_rows = rows.saturating_sub(1).min(2);
        let title_rows = rows.saturating_sub(1 + status_rows).min(1);
        let message_rows = rows - 1 - status_rows - title_rows;
        let mut put = |row: u16, line: Line<'_>| {
            let buffer = frame.buffer_mut();
            buffer.set_line(area.x, area.y + row, &line, area.width);
        };

        if title_rows > 0 {
            put(0, self.title_line(width));
        }
        let height = usize::from(message_rows);
        let lines = self.visible(width, height);
        // New messages are at the bottom, next to the input.
        let first = rows - 1 - status_rows - u16::try_from(lines.len()).unwrap_or(message_rows);
        for (row, line) in (first..).zip(lines) {
            put(row, line);
        }
        let status = self.status(width);
        for (row, line) in (rows - 1 - status_rows..rows - 1).zip(status) {
            put(row, line);
        }
        put(rows - 1, Line::from(PROMPT));
        let indent = area.width.min(PROMPT.len() as u16);
        let input = Rect::new(area.x + indent, area.y + rows - 1, area.width - indent, 1);
        let (left, cursor) = self.input.scroll(input.width);
        frame.render_widget(Paragraph::new(self.input.text()).scroll((0, left)), input);
        let column = (input.x + cursor).min(area.right() - 1);
        frame.set_cursor_position((column, input.y));
    }

    fn title_line(&self, width: usize) -> Line<'static> {
        let secrecy = match self.is_encrypted {
            true => "encrypted",
            false => "CLEAR TEXT",
        };
        let text = format!(" {}: {secrecy}", self.title);
        bar(text, width, Color::Blue)
    }

    fn status(&self, width: usize) -> [Line<'static>; 2] {
        let Some(status) = &self.status else {
            return [
                bar(" starting", width, Color::DarkGray),
                bar("", width, Color::DarkGray),
            ];
        };
        let colour = |is_good| if is_good { Color::DarkGray } else { Color::Red };
        let scrolled = match self.scrolled {
            0 => String::new(),
            lines => format!(" (scrolled {lines} lines back)"),
        };
        let is_forbidden = matches!(status.publishing, PublishAllowance::Forbidden { .. });
        [
            bar(
                format!(" {}{scrolled}", status.connection()),
                width,
                colour(status.is_connected()),
            ),
            bar(
                format!(" {}", status.publishing()),
                width,
                colour(!is_forbidden),
            ),
        ]
    }

    /// Returns the visible lines of the messages, at most `height`.
    fn visible(&mut self, width: usize, height: usize) -> Vec<Line<'static>> {
        self.height = height;
        let wanted = height.saturating_add(self.scrolled);
        let mut lines = VecDeque::new();
        for entry in self.entries.iter().rev() {
            if lines.len() >= wanted {
                break;
            }
            for line in wrapped(&entry.parts, width).into_iter().rev() {
                lines.push_front(line);
            }
        }
        // The view may be scrolled further than there are lines, and some at the top may not fit.
        self.scrolled = self.scrolled.min(lines.len().saturating_sub(height));
        let end = lines.len() - self.scrolled;
        let start = end.saturating_sub(height);
        lines.drain(start..end).collect()
    }
}

fn state_part(state: &OwnState) -> (Tone, String) {
    let tone = match state.is_warning() {
        true => Tone::Warning,
        false => Tone::Quiet,
    };
    (tone, format!(" ({})", state.words()))
}

/// Returns a line with one background colour over the whole width.
fn bar(text: impl Into<String>, width: usize, colour: Color) -> Line<'static> {
    let style = Style::new().bg(colour).fg(Color::White);
    Line::from(Span::styled(format!("{:width$}", text.into()), style))
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Name => Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
        Tone::Quiet => Style::new().fg(Color::DarkGray),
        Tone::Text => Style::new(),
        Tone::Warning => Style::new().fg(Color::Yellow),
    }
}

/// Wraps an entry into lines of at most `width` columns.
fn wrapped(parts: &[(Tone, String)], width: usize) -> Vec<Line<'static>> {
    let indent = if width >= INDENT_FROM { INDENT } else { 0 };
    let mut lines = Vec::new();
    let mut spans = Vec::new();
    let mut column = 0;
    for (tone, text) in parts {
        let mut run = String::new();
        for c in text.chars() {
            let columns = c.width().unwrap_or(0);
            if column + columns > width && column > indent {
                spans.push(Span::styled(std::mem::take(&mut run), style(*tone)));
                lines.push(Line::from(std::mem::take(&mut spans)));
                spans.push(Span::raw(" ".repeat(indent)));
                column = indent;
            }
            run.push(c);
            column += columns;
        }
        spans.push(Span::styled(run, style(*tone)));
    }
    lines.push(Line::from(spans));
    lines
}
