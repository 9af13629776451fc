use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::{CHARS_MAX, InputLine};

fn press(line: &mut InputLine, code: KeyCode) {
    line.key(KeyEvent::new(code, KeyModifiers::NONE));
}

fn control(line: &mut InputLine, c: char) {
    line.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
}

fn typed(text: &str) -> InputLine {
    let mut line = InputLine::default();
    text.chars()
        .for_each(|c| press(&mut line, KeyCode::Char(c)));
    line
}

#[test]
fn a_line_is_edited_anywhere() {
    let mut line = typed("helo");
    press(&mut line, KeyCode::Left);
    press(&mut line, KeyCode::Char('l'));
    press(&mut line, KeyCode::Home);
    press(&mut line, KeyCode::Delete);
    press(&mut line, KeyCode::Char('H'));
    press(&mut line, KeyCode::End);
    press(&mut line, KeyCode::Char('!'));
    press(&mut line, KeyCode::Backspace);
    assert_eq!(line.take(), "Hello");
    assert!(line.is_empty());
}

#[test]
fn words_and_lines_are_erased() {
    let mut line = typed("one two  three  ");
    control(&mut line, 'w');
    assert_eq!(line.window(80).0, "one two  ");
    control(&mut line, 'w');
    assert_eq!(line.window(80).0, "one ");
    control(&mut line, 'w');
    assert_eq!(line.window(80).0, "");
    let mut line = typed("one two");
    press(&mut line, KeyCode::Left);
    control(&mut line, 'u');
    assert_eq!(line.take(), "o");
}

#[test]
fn a_paste_is_one_harmless_line() {
    let mut line = typed("<>");
    press(&mut line, KeyCode::Left);
    line.paste("a\r\nb\tc\u{1b}[2J\n");
    assert_eq!(line.take(), "<a b c\u{fffd}[2J>");
    line.paste(&"x".repeat(CHARS_MAX + 1));
    press(&mut line, KeyCode::Char('x'));
    assert_eq!(line.take().len(), CHARS_MAX);
}

#[test]
fn a_long_line_is_shown_about_its_cursor() {
    let mut line = typed("0123456789");
    assert_eq!(line.window(5), ("6789".to_owned(), 4));
    press(&mut line, KeyCode::Home);
    assert_eq!(line.window(5), ("01234".to_owned(), 0));
    // Characters of two columns.
    let line = typed("你好你好");
    assert_eq!(line.window(5), ("你好".to_owned(), 4));
    assert_eq!(line.window(0), (String::new(), 0));
}

proptest! {
    #[test]
    fn no_keys_break_the_line(keys in proptest::collection::vec(0..12_u8, 0..60), width in 0..9_usize) {
        let mut line = InputLine::default();
        for key in keys {
            match key {
                0 => press(&mut line, KeyCode::Left),
                1 => press(&mut line, KeyCode::Right),
                2 => press(&mut line, KeyCode::Home),
                3 => press(&mut line, KeyCode::End),
                4 => press(&mut line, KeyCode::Backspace),
                5 => press(&mut line, KeyCode::Delete),
                6 => control(&mut line, 'w'),
                7 => line.paste("a b"),
                8 => press(&mut line, KeyCode::Char(' ')),
                9 => press(&mut line, KeyCode::Char('你')),
                _ => press(&mut line, KeyCode::Char('x')),
            }
            let (_, cursor) = line.window(width);
            prop_assert!(cursor < width.max(1));
        }
    }
}
