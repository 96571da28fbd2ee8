//! Messages, as they come and go.
//!
//! Input: bytes: a header with the length, an empty line, JSON. Output: [`Event`]s. Establishes: what is no message is passed
//! over, and so is a length that no message has; the stream ends with [`Event::Closed`]. Relies on: nothing. Reference: Language
//! Server Protocol 3.17, "Base Protocol"; JSON-RPC 2.0.

use super::verify::Finished;
use lsp_server::Message;
use std::io::{BufRead, Read};
use std::sync::mpsc::Sender;

/// The longest message, in bytes.
const LONGEST_MESSAGE: u64 = 1 << 28;

/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 1 << 12;

/// What the server has to do with.
#[derive(Debug)]
pub(super) enum Event {
    /// The client says something.
    Message(Message),
    /// It says what is no message; why.
    Unreadable(String),
    /// Nothing more comes.
    Closed,
    /// A verification came to its end.
    Finished(Finished),
}

/// Hands on all that comes, until nothing more does or nobody listens.
pub(super) fn listen(mut input: impl BufRead, events: &Sender<Event>) {
    loop {
        let event = read(&mut input);
        let is_end = matches!(event, Event::Closed);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

fn read(input: &mut impl BufRead) -> Event {
    let mut length = None;
    loop {
        let Some(line) = header_line(input) else { return Event::Closed };
        match (line.trim(), length) {
            ("", Some(length)) => return content(input, length),
            // Lines between messages are none of our business.
            ("", None) => {}
            (line, _) => match length_in(line) {
                Some(Ok(found)) => length = Some(found),
                Some(Err(message)) => return Event::Unreadable(message),
                None if length.is_none() && !line.contains(':') => {
                    return Event::Unreadable("a line that is no header".to_string());
                }
                None => {}
            },
        }
    }
}

/// A line without its end, or a piece of one that is too long; `None` at the end of the stream.
fn header_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    match input.take(LONGEST_LINE).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(String::from_utf8_lossy(&line).into_owned()),
    }
}

/// The length that a header tells, also behind what came without a line end.
fn length_in(line: &str) -> Option<Result<u64, String>> {
    const NAME: &str = "content-length:";
    let at = line.to_ascii_lowercase().rfind(NAME)?;
    let number = line[at + NAME.len()..].trim();
    Some(match number.parse() {
        Ok(length) if length <= LONGEST_MESSAGE => Ok(length),
        _ => Err(format!("`{number}` is the length of no message")),
    })
}

fn content(input: &mut impl BufRead, length: u64) -> Event {
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes) {
        Ok(read) if read as u64 == length => match serde_json::from_slice(&bytes) {
            Ok(message) => Event::Message(message),
            Err(error) => Event::Unreadable(error.to_string()),
        },
        _ => Event::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, listen};
    use std::sync::mpsc;

    fn events(input: &[u8]) -> Vec<String> {
        let (sender, receiver) = mpsc::channel();
        listen(input, &sender);
        drop(sender);
        let name = |event: Event| match event {
            Event::Message(lsp_server::Message::Notification(notification)) => notification.method,
            Event::Message(_) => "message".to_string(),
            Event::Unreadable(_) => "unreadable".to_string(),
            Event::Closed => "closed".to_string(),
            Event::Finished(_) => "finished".to_string(),
        };
        receiver.into_iter().map(name).collect()
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let exit = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        let said = |wild: &str| events(format!("{wild}{exit}").as_bytes());
        assert_eq!(said(""), ["exit", "closed"]);
        assert_eq!(said("Content-Type: text\r\n"), ["exit", "closed"]);
        assert_eq!(said("Content-Length: 3\r\n\r\n{]}"), ["unreadable", "exit", "closed"]);
        assert_eq!(said("Content-Length: 99999999999999999999\r\n\r\n"), ["unreadable", "exit", "closed"]);
        assert_eq!(said("Content-Length: 2000000000\r\n\r\n"), ["unreadable", "exit", "closed"]);
        assert_eq!(said("hello\n"), ["unreadable", "exit", "closed"]);
        assert_eq!(said("hello"), ["exit", "closed"]);
        assert_eq!(events(b"\xff\xfe\x00\n"), ["unreadable", "closed"]);
        assert_eq!(events(b"Content-Length: 33\r\n\r\n{\"json"), ["closed"]);
    }
}
