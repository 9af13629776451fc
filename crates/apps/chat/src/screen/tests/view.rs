use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::{ENTRIES_MAX, ScreenView};
use crate::chat_status::{ChatStatus, PublishAllowance};
use crate::events::{ChatEvent, ChatMessage, ChatStart};
use crate::own_messages::OwnState;

fn view() -> ScreenView {
    let mut view = ScreenView::new("alice");
    view.show(&ChatEvent::Ready(ChatStart {
        at_ms: 0,
        peer_id: "P".to_owned(),
        listen_addresses: Vec::new(),
        content_topic: "/toy-chat/2/huilong/proto".to_owned(),
        pubsub_topic: "/waku/2/rs/66/0".to_owned(),
        nick: "alice".to_owned(),
        encrypted: false,
        history: true,
    }));
    view
}

fn message(text: &str) -> ChatEvent {
    ChatEvent::Message(ChatMessage {
        at_ms: 0,
        nick: "bob".to_owned(),
        text: text.to_owned(),
        latency_ms: Some(34),
        encrypted: false,
        is_exposed: false,
        signed_by: None,
        past: false,
        hash: String::new(),
    })
}

fn drawn(view: &mut ScreenView, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content().chunks(usize::from(width));
    let text = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect();
    rows.map(text)
        .map(|row: String| row.trim_end().to_owned())
        .collect()
}

#[test]
fn the_screen_says_where_one_is_and_that_the_text_is_clear() {
    let mut view = view();
    view.show(&message("hello"));
    let rows = drawn(&mut view, 70, 8);
    assert_eq!(rows[0], " /toy-chat/2/huilong/proto as alice: CLEAR TEXT");
    assert_eq!(rows[4], "00:00:00 <bob> hello (34 ms)");
    assert_eq!(rows[5], " starting");
    assert_eq!(rows[7], ">");
}

#[test]
fn who_is_not_connected_or_may_not_publish_is_told() {
    let mut view = view();
    let status = ChatStatus {
        peers: 0,
        carriers: 0,
        has_peers_to_dial: true,
        publishing: PublishAllowance::Forbidden {
            reason: "no membership".to_owned(),
        },
    };
    view.show(&ChatEvent::Status { at_ms: 0, status });
    let rows = drawn(&mut view, 70, 8);
    assert_eq!(rows[5], " not connected: no peer answers; trying again");
    assert_eq!(rows[6], " read only: no membership");
}

#[test]
fn an_own_message_changes_its_state_where_it_stands() {
    let mut view = view();
    let own = |text: Option<&str>, state| ChatEvent::Own {
        at_ms: 0,
        number: 7,
        text: text.map(str::to_owned),
        state,
    };
    view.show(&own(Some("hi"), OwnState::Sending));
    view.show(&message("hello"));
    assert!(drawn(&mut view, 70, 8).contains(&"00:00:00 <alice> hi (sending)".to_owned()));
    view.show(&own(None, OwnState::Queued));
    let rows = drawn(&mut view, 90, 8);
    let waits = "00:00:00 <alice> hi (queued)";
    assert_eq!(
        (rows[3].as_str(), rows[4].as_str()),
        (waits, "00:00:00 <bob> hello (34 ms)")
    );
}

#[test]
fn long_texts_are_broken_and_indented() {
    let mut view = view();
    view.show(&message(&"x".repeat(40)));
    let rows = drawn(&mut view, 40, 8);
    assert_eq!(rows[3], format!("00:00:00 <bob> {}", "x".repeat(25)));
    assert_eq!(rows[4], format!("         {} (34 ms)", "x".repeat(15)));
}

#[test]
fn older_messages_are_scrolled_to_and_no_further() {
    let mut view = view();
    (0..20).for_each(|n| view.show(&message(&format!("number {n}."))));
    assert!(drawn(&mut view, 60, 8)[4].contains("number 19."));
    view.scroll_up();
    assert!(drawn(&mut view, 60, 8)[4].contains("number 16."));
    (0..50).for_each(|_| view.scroll_up());
    assert!(drawn(&mut view, 60, 8)[1].contains("alice in /toy-chat"));
    (0..50).for_each(|_| view.scroll_down());
    assert!(drawn(&mut view, 60, 8)[4].contains("number 19."));
}

#[test]
fn memory_for_entries_is_bounded() {
    let mut view = view();
    (0..ENTRIES_MAX + 5).for_each(|_| view.show(&message("x")));
    assert_eq!(view.entries.len(), ENTRIES_MAX);
}

#[test]
fn a_long_input_is_shown_about_its_cursor() {
    let mut view = view();
    view.input.paste("0123456789 你好");
    let mut input = |width| drawn(&mut view, width, 3).pop().unwrap();
    // A character of two columns fills the second one with a space.
    assert_eq!(input(9), "> 9 你 好");
    assert_eq!(input(8), ">  你 好");
    assert_eq!(input(20), "> 0123456789 你 好");
    let home = KeyEvent::new(KeyCode::Home, KeyModifiers::NONE);
    view.input.key(home);
    assert_eq!(drawn(&mut view, 6, 3).pop().unwrap(), "> 0123");
}

#[test]
fn any_size_of_the_terminal_can_be_drawn() {
    let mut view = view();
    view.show(&message("你好 e\u{301} hello"));
    for c in "你好, hello".chars() {
        view.input
            .key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    }
    for width in 0..40 {
        for height in 0..7 {
            drawn(&mut view, width.max(1), height.max(1));
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| view.draw(frame)).unwrap();
        }
    }
}
