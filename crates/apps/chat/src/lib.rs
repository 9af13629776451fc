//! A messenger in the terminal, on a Waku node that relays or is a light client.
//!
//! A [`Chat`] shows the messages of one room: those that the node delivers, those from stores, and the user's own
//! with their delivery state. It runs on a screen ([`Chat::run_on_screen`]) or with one line per event
//! ([`Chat::run_in_lines`]). Encrypted rooms use version 1 of Waku's payload encryption (RFC 26).

mod body;
mod chat;
mod chat_status;
mod error;
mod events;
mod history;
mod lines;
mod own_messages;
mod room;
mod screen;
mod session;
mod text;
mod typed;

pub use chat::{Chat, LineStyle};
pub use error::ChatError;
pub use room::ChatRoom;
pub use text::{NICK_CHARS_MAX, nick};
