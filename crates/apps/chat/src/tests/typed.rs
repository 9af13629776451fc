use std::io::BufReader;

use super::{Input, LINE_BYTES_MAX, Typed, next_line};

fn lines(bytes: &[u8]) -> Vec<Input> {
    // A small buffer, so that lines come in parts.
    let mut source = BufReader::with_capacity(7, bytes);
    std::iter::from_fn(|| next_line(&mut source).unwrap()).collect()
}

fn line(text: &str) -> Input {
    Input::Line(text.to_owned())
}

#[test]
fn lines_are_read_with_any_end() {
    let read = lines(b"hello there\r\n\nlast");
    assert_eq!(read, [line("hello there"), line(""), line("last")]);
    assert_eq!(lines(b"a\xffb\n"), [line("a\u{fffd}b")]);
    assert_eq!(lines(b""), []);
}

#[test]
fn a_line_without_end_takes_no_memory() {
    let mut bytes = vec![b'x'; LINE_BYTES_MAX];
    bytes.extend(b"\n");
    bytes.extend(vec![b'x'; LINE_BYTES_MAX + 1]);
    bytes.extend(b"\nhello\n");
    let read = lines(&bytes);
    assert_eq!(read[1..], [Input::TooLong, line("hello")]);
    assert_eq!(lines(&vec![b'x'; 9 * LINE_BYTES_MAX]), [Input::TooLong]);
}

#[test]
fn commands_begin_with_a_slash_and_texts_can() {
    assert_eq!(Typed::read("/quit  "), Some(Typed::Quit));
    assert_eq!(Typed::read("//quit"), Some(Typed::Text("/quit".to_owned())));
    assert_eq!(
        Typed::read("hello /quit"),
        Some(Typed::Text("hello /quit".to_owned()))
    );
    assert!(matches!(Typed::read("/nonsense"), Some(Typed::Refused(_))));
    assert_eq!(Typed::read("   "), None);
}
