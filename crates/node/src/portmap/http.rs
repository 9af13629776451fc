//! One HTTP request to a router, with a bound on its answer.

use std::net::SocketAddr;

use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Longest answer that is read, bytes. Descriptions of routers have some ten thousand.
const ANSWER_BYTES_MAX: u64 = 256 << 10;

/// Reason why a request has no answer.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("it is not HTTP")]
    Malformed,
}

/// Request to a router: a GET, or a POST of SOAP.
#[derive(Debug)]
pub(super) struct HttpRequest<'a> {
    pub(super) path: &'a str,
    /// Action of SOAP; without one, the request is a GET.
    pub(super) action: Option<&'a str>,
    pub(super) body: &'a str,
}

impl<'a> HttpRequest<'a> {
    pub(super) fn get(path: &'a str) -> Self {
        Self {
            path,
            action: None,
            body: "",
        }
    }

    fn text(&self, host: SocketAddr) -> String {
        let Self { path, body, .. } = self;
        match self.action {
            None => format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            Some(action) => format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nSOAPAction: {action}\r\n\
                 Content-Type: text/xml; charset=\"utf-8\"\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
        }
    }
}

/// Answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RouterAnswer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends a request on a connection of its own. The caller bounds the time.
pub(super) async fn ask(
    at: SocketAddr,
    request: &HttpRequest<'_>,
) -> Result<RouterAnswer, HttpError> {
    let mut stream = TcpStream::connect(at).await?;
    stream.write_all(request.text(at).as_bytes()).await?;
    let mut answer = Vec::new();
    let mut bounded = stream.take(ANSWER_BYTES_MAX);
    loop {
        let read = bounded.read_buf(&mut answer).await?;
        // Some routers leave the connection open all the same.
        if read == 0 || is_whole(&answer) {
            return parse(&answer).ok_or(HttpError::Malformed);
        }
    }
}

/// Head and body of an answer, once the head is there.
fn parts(answer: &[u8]) -> Option<(&str, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = answer.split_at_checked(end)?;
    Some((std::str::from_utf8(head).ok()?, body.get(4..)?))
}

/// Value of a field of the head, in lower case.
fn field(head: &str, wanted: &str) -> Option<String> {
    let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let found = fields.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
    Some(found.1.trim().to_ascii_lowercase())
}

fn is_chunked(head: &str) -> bool {
    field(head, "transfer-encoding").is_some_and(|encoding| encoding.contains("chunked"))
}

fn is_whole(answer: &[u8]) -> bool {
    let Some((head, body)) = parts(answer) else {
        return false;
    };
    if is_chunked(head) {
        return body.ends_with(b"0\r\n\r\n");
    }
    let len = field(head, "content-length").and_then(|len| len.parse::<usize>().ok());
    len.is_some_and(|len| body.len() >= len)
}

fn parse(answer: &[u8]) -> Option<RouterAnswer> {
    let (head, body) = parts(answer)?;
    let first = head.lines().next()?.strip_prefix("HTTP/1.")?;
    let status = first.split_whitespace().nth(1)?.parse().ok()?;
    let body = match is_chunked(head) {
        true => without_chunks(body)?,
        false => body.to_vec(),
    };
    Some(RouterAnswer {
        status,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Joins the chunks of a body.
fn without_chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let (len, after) = rest.split_at_checked(end)?;
        let len = std::str::from_utf8(len).ok()?.split(';').next()?.trim();
        let len = usize::from_str_radix(len, 16).ok()?;
        if len == 0 {
            return Some(body);
        }
        let (chunk, after) = after.get(2..)?.split_at_checked(len)?;
        body.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_with_a_length_with_chunks_and_without_either_are_read() {
        let expected = RouterAnswer {
            status: 200,
            body: "<root/>".into(),
        };
        let plain = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<root/>";
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n<ro\r\n4\r\not/>\r\n0\r\n\r\n";
        let open = b"HTTP/1.0 200 OK\r\n\r\n<root/>";
        for (answer, is_whole_at_its_end) in [
            (plain.as_slice(), true),
            (chunked.as_slice(), true),
            (open.as_slice(), false),
        ] {
            assert_eq!(parse(answer).as_ref(), Some(&expected));
            assert_eq!(is_whole(answer), is_whole_at_its_end);
            assert!(!is_whole(&answer[..answer.len() - 1]));
        }
    }

    #[test]
    fn what_is_not_http_is_refused() {
        let none: [&[u8]; 6] = [
            b"",
            b"HTTP/1.1 200 OK",
            b"SSH-2.0\r\n\r\n",
            b"HTTP/1.1 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx",
        ];
        for answer in none {
            assert_eq!(parse(answer), None, "{answer:?}");
        }
    }
}
