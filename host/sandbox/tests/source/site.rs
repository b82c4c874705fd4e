//! A web server that serves `python/site.json`, as `python/expected.py` does.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const PAGES: &str = include_str!("python/site.json");

/// Serves until the test's runtime ends. `/echo` gives the request back.
pub(crate) async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    address
}

async fn answer(mut stream: TcpStream) {
    let Some(request) = Request::read(&mut stream).await else {
        return;
    };
    let pages: Value = serde_json::from_str(PAGES).unwrap();
    let path = request.target.split('?').next().unwrap_or_default();
    let page = match path {
        "/echo" => json!({
            "status": 200, "type": "application/json", "body": request.echo().to_string(),
        }),
        path => pages.get(path).cloned().unwrap_or_else(
            || json!({"status": 404, "type": "text/plain", "body": "no such page"}),
        ),
    };
    let _ = stream.write_all(response(&page).as_bytes()).await;
}

fn response(page: &Value) -> String {
    let body = page["body"].as_str().unwrap();
    let mut head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n",
        page["status"],
        "Of no interest",
        page["type"].as_str().unwrap(),
        body.len()
    );
    if let Some(location) = page.get("location").and_then(Value::as_str) {
        head.push_str(&format!("location: {location}\r\n"));
    }
    format!("{head}\r\n{body}")
}

struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    async fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4_096];
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
                break end;
            }
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let mut first = lines.next()?.split(' ');
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        };
        let headers: Vec<_> = lines.filter_map(header).collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().unwrap());
        let mut body = bytes[end + 4..].to_vec();
        while body.len() < length {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => body.extend_from_slice(&buffer[..read]),
            }
        }
        Some(Self {
            method: first.next()?.to_owned(),
            target: first.next()?.to_owned(),
            headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// The request as JSON, with those headers that a tool chose.
    fn echo(&self) -> Value {
        let own =
            |name: &str| name.starts_with("x-") || matches!(name, "content-type" | "authorization");
        let headers = self.headers.iter().filter(|(name, _)| own(name));
        let headers: Map<_, _> = headers
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        json!({
            "method": self.method, "path": self.target, "headers": headers, "body": self.body,
        })
    }
}
