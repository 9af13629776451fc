use super::LineFront;
use crate::chat_status::{ChatStatus, Left, PublishAllowance};
use crate::events::ChatEvent;
use crate::own_messages::OwnState;
use crate::session::Front as _;
use crate::typed::{Input, Typed};

fn status(carriers: usize, epoch_ends_in_s: u64) -> ChatEvent {
    ChatEvent::Status {
        at_ms: 0,
        status: ChatStatus {
            peers: carriers,
            carriers,
            has_peers_to_dial: true,
            publishing: PublishAllowance::Limited(Left {
                at_most: 2,
                limit: 3,
                epoch_ends_in_s,
            }),
        },
    }
}

fn shown(is_json: bool, events: &[ChatEvent]) -> String {
    let mut out = Vec::new();
    let mut lines = LineFront::new(&mut out, is_json, false);
    events.iter().for_each(|event| lines.show(event).unwrap());
    String::from_utf8(out).unwrap()
}

#[test]
fn a_standing_is_told_when_it_changes_and_not_every_second() {
    for is_json in [false, true] {
        let events = [status(0, 9), status(0, 8), status(1, 7), status(1, 6)];
        let text = shown(is_json, &events);
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}

#[test]
fn a_failure_is_marked() {
    let own = |state| ChatEvent::Own {
        at_ms: 0,
        number: 1,
        text: None,
        state,
    };
    let reason = "no peer came".to_owned();
    let failed = own(OwnState::Failed { reason });
    let text = shown(false, &[own(OwnState::Queued), failed]);
    let expected = "00:00:00 * message 1: queued\n\
                    00:00:00 ! message 1: failed: no peer came\n";
    assert_eq!(text, expected);
}

#[test]
fn programs_send_every_line_and_people_have_commands() {
    let typed = |is_json, text: &str| {
        let mut lines = LineFront::new(Vec::new(), is_json, false);
        lines.typed(Input::Line(text.to_owned())).unwrap()
    };
    assert_eq!(typed(true, "/quit"), Some(Typed::Text("/quit".to_owned())));
    assert_eq!(typed(false, "/quit"), Some(Typed::Quit));
    assert_eq!(typed(true, ""), None);
}

#[test]
fn the_end_of_the_input_ends_the_chat_unless_it_listens() {
    for (goes_on, expected) in [(false, Some(Typed::End)), (true, None)] {
        let mut lines = LineFront::new(Vec::new(), false, goes_on);
        assert_eq!(lines.typed(Input::End).unwrap(), expected);
    }
}
