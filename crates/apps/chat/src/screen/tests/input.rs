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
    assert!(line.text().is_empty());
}

#[test]
fn words_and_lines_are_erased() {
    let mut line = typed("one two  three  ");
    control(&mut line, 'w');
    assert_eq!(line.text(), "one two  ");
    control(&mut line, 'w');
    assert_eq!(line.text(), "one ");
    control(&mut line, 'w');
    assert_eq!(line.text(), "");
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
fn what_looks_like_one_character_is_one() {
    // An accent of its own, a family, and characters of two columns.
    let mut line = typed("e\u{301}👩\u{200d}👩\u{200d}👧你好");
    assert_eq!(line.scroll(80), (0, 7));
    assert_eq!(line.scroll(5), (3, 4));
    assert_eq!(line.scroll(0), (7, 0));
    press(&mut line, KeyCode::Left);
    press(&mut line, KeyCode::Left);
    press(&mut line, KeyCode::Backspace);
    assert_eq!(line.text(), "e\u{301}你好");
    press(&mut line, KeyCode::Backspace);
    assert_eq!(line.text(), "你好");
    assert_eq!(line.scroll(80), (0, 0));
}

proptest! {
    #[test]
    fn no_keys_break_the_line(keys in proptest::collection::vec(0..13_u8, 0..60), width in 0..9_u16) {
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
                10 => press(&mut line, KeyCode::Char('\u{301}')),
                11 => press(&mut line, KeyCode::Char('\u{200d}')),
                _ => press(&mut line, KeyCode::Char('x')),
            }
            let (_, cursor) = line.scroll(width);
            prop_assert!(cursor < width.max(1));
        }
    }
}
