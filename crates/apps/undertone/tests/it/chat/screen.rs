//! A chat on a pseudo-terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::chat::support::{PATIENCE, Place, command};

/// Sequence with which a program leaves the alternate screen.
const LEAVE: &str = "\u{1b}[?1049l";

/// Sequence with which a program enters it.
const ENTER: &str = "\u{1b}[?1049h";

/// A chat on a terminal of 80 columns and 24 rows.
struct Terminal {
    child: Child,
    keyboard: File,
    /// The chat's end, whose modes say who has the terminal.
    end: File,
    output: Receiver<Vec<u8>>,
    shown: String,
}

impl Terminal {
    fn start(place: &Place) -> Self {
        let controller: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let path = name.to_str().unwrap();
        let end = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        let stream = || end.try_clone().unwrap();
        let child = command(&place.folder("alice"), "--rln=false --nick alice")
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        let keyboard = File::from(controller);
        let mut screen = keyboard.try_clone().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard,
            end,
            output,
            shown: String::new(),
        }
    }

    /// Waits until this is shown, after what was waited for before.
    fn shows(&mut self, text: &str) {
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let bytes = self.output.recv_timeout(PATIENCE);
            let Ok(bytes) = bytes else {
                panic!("{text:?} is not in {:?}", self.shown);
            };
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Whether the terminal shows what is typed by itself, as users expect after a program.
    fn is_the_users(&self) -> bool {
        let modes = tcgetattr(&self.end).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_screen_shows_the_room_and_gives_the_terminal_back() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place);
    terminal.shows("/toy-chat/2/huilong/proto as alice: CLEAR TEXT");
    assert!(!terminal.is_the_users());
    terminal.shows("connected: no peers are configured");
    terminal.press(b"hello\r");
    // Only what changed is drawn, so a word may come in parts; this one replaces nothing.
    terminal.shows("queued");
    terminal.press(b"\x03");
    terminal.shows(LEAVE);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(terminal.is_the_users());
    assert!(place.folder("alice").join("chat.log").exists());
}

#[test]
fn a_chat_that_is_stopped_gives_the_terminal_back_until_it_goes_on() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place);
    for by_key in [true, false] {
        terminal.shows("CLEAR TEXT");
        if by_key {
            terminal.press(b"\x1a");
        } else {
            kill_process(terminal.pid(), Signal::TSTP).unwrap();
        }
        let stopped = waitpid(Some(terminal.pid()), WaitOptions::UNTRACED).unwrap();
        assert!(stopped.unwrap().1.stopped());
        terminal.shows(LEAVE);
        assert!(terminal.is_the_users());
        kill_process(terminal.pid(), Signal::CONT).unwrap();
        terminal.shows(ENTER);
    }
    terminal.shows("CLEAR TEXT");
    kill_process(terminal.pid(), Signal::TERM).unwrap();
    terminal.shows(LEAVE);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(terminal.is_the_users());
}
