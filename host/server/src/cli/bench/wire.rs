//! A light HTTP/1.1 client that keeps its connection: the load must cost the server's machine
//! as little as it can, since both share it.

use std::{
    io::{Error, ErrorKind, Result},
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Bytes of an answer: the answers here have some thousands.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Ends the body of an answer that is sent in chunks.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The bytes of a POST of JSON.
pub(super) fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The bytes of a GET.
pub(super) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(8 << 10),
        })
    }

    /// Sends a request and gives the body of the answer, whose status must be 200.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if let Some((from, to)) = body(&self.buffer)?
                && self.buffer.len() >= to
            {
                return Ok(&self.buffer[from..to]);
            }
            self.read_more().await?;
        }
    }

    /// Sends a request that is answered with a stream, reads it to its end, and tells how long it
    /// took until `mark` was there.
    pub(super) async fn first(&mut self, request: &[u8], mark: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        self.until(request, mark).await?;
        let first = start.elapsed();
        self.rest().await?;
        Ok(first)
    }

    /// Sends a request that is answered with a stream, and reads until `mark` is there.
    pub(super) async fn until(&mut self, request: &[u8], mark: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        while !self.buffer.windows(mark.len()).any(|part| part == mark) {
            if self.buffer.ends_with(LAST_CHUNK) {
                let text = String::from_utf8_lossy(&self.buffer);
                let text: String = text.chars().take(300).collect();
                let error = format!("nothing was said: {text}");
                return Err(Error::new(ErrorKind::InvalidData, error));
            }
            self.read_more().await?;
        }
        Ok(())
    }

    /// Reads a stream to its end.
    pub(super) async fn rest(&mut self) -> Result<()> {
        while !self.buffer.ends_with(LAST_CHUNK) {
            self.read_more().await?;
        }
        Ok(())
    }

    async fn read_more(&mut self) -> Result<()> {
        if self.buffer.len() > MAX_ANSWER_BYTES {
            return Err(Error::new(
                ErrorKind::InvalidData,
                "the answer is too large",
            ));
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Where the body begins and ends, once the head is there.
fn body(answer: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(head) = answer.windows(4).position(|end| end == b"\r\n\r\n") else {
        return Ok(None);
    };
    let invalid = |why: String| Error::new(ErrorKind::InvalidData, why);
    let text = String::from_utf8_lossy(&answer[..head]);
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        return Err(invalid(format!("the server answered {status}")));
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or_else(|| invalid("the answer has no content-length".to_owned()))?;
    let from = head + 4;
    Ok(Some((from, from.saturating_add(length))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_once_its_head_is_there() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        assert_eq!(body(answer).expect("valid"), Some((38, 40)));
        assert_eq!(body(&answer[..20]).expect("not yet"), None);
        assert!(body(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(body(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
