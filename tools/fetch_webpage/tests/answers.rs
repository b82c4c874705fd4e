//! Answers of servers: what is read, what is refused, and how.

mod support;

use bulkhead_sdk::{Error, Upstream, http, json, mock};
use support::{answer, fetch, fetch_with, page};

const HTML: (&str, &str) = ("content-type", "text/html");

#[test]
fn the_schema_names_what_existing_agents_send_and_bounds_the_rest() {
    let tool = &tool_fetch_webpage::TOOLS[0];
    assert_eq!(tool.name(), "fetch_webpage");
    let schema = tool.input_schema();
    assert_eq!(schema["required"], json!(["url"]));
    assert_eq!(schema["properties"]["url"]["type"], "string");
    let limit = &schema["properties"]["max_characters"];
    assert_eq!(
        (&limit["minimum"], &limit["maximum"], &limit["default"]),
        (&json!(500), &json!(200_000), &json!(40_000))
    );
    assert_eq!(schema["properties"]["start"]["default"], 0);
}

#[test]
fn it_wishes_for_every_public_host() {
    let wishes = tool_fetch_webpage::TOOLS[0].wishes();
    assert!(
        wishes.contains("https://*") && wishes.contains("http://*") || wishes.contains("any://*"),
        "{wishes}"
    );
}

#[test]
fn one_plain_request_leaves_without_fragment_and_asks_for_no_compression() {
    let host = mock::Host::new()
        .http(|_| Ok(answer(200, &[HTML], "<p>hi")))
        .install();
    let input = json!({ "url": " HTTPS://Example.com/a b#part " });
    mock::call(tool_fetch_webpage::TOOLS, "fetch_webpage", input).expect("a page");
    let requests = host.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (&*requests[0].method, &*requests[0].url),
        ("GET", "https://example.com/a%20b")
    );
    assert!(
        requests[0]
            .headers
            .contains(&("accept-encoding".to_owned(), "identity".to_owned()))
    );
    assert_eq!(requests[0].credential, None);
}

#[test]
fn links_start_from_where_the_redirects_ended() {
    let text = page("<a href=next>on</a>");
    assert_eq!(
        text,
        "URL: https://example.com/dir/page\n\n[on](https://example.com/dir/next)"
    );
}

#[test]
fn what_is_no_web_address_never_leaves() {
    let host = mock::Host::new()
        .http(|_| Ok(answer(200, &[HTML], "")))
        .install();
    for url in [
        "",
        "example.com",
        "/path",
        "ftp://example.com/",
        "file:///etc/passwd",
        "data:text/html,x",
        "javascript:1",
        "http://",
    ] {
        let result = mock::call(
            tool_fetch_webpage::TOOLS,
            "fetch_webpage",
            json!({ "url": url }),
        );
        let Err(Error::InvalidInput(problems)) = result else {
            panic!("{url}: {result:?}")
        };
        assert_eq!(problems[0].at, "/url");
    }
    let result = mock::call(
        tool_fetch_webpage::TOOLS,
        "fetch_webpage",
        json!({ "url": "http://a.example", "max_characters": 5 }),
    );
    assert!(
        matches!(result, Err(Error::InvalidInput(problems)) if problems[0].at == "/max_characters")
    );
    assert!(host.requests().is_empty());
}

#[test]
fn a_denied_request_says_which_grant_is_missing() {
    let _host = mock::Host::new()
        .http(|_| Err(http::Error::Denied("grant https://a.example".to_owned())))
        .install();
    let result = mock::call(
        tool_fetch_webpage::TOOLS,
        "fetch_webpage",
        json!({ "url": "https://a.example" }),
    );
    assert_eq!(
        result,
        Err(Error::Denied("grant https://a.example".to_owned()))
    );
}

#[test]
fn a_status_that_is_no_success_is_upstream_with_its_waiting_time() {
    for (status, headers, wait) in [
        (404, vec![], None),
        (403, vec![], None),
        (429, vec![("Retry-After", "7")], Some(7_000)),
        (
            503,
            vec![
                ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"),
                ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ],
            Some(30_000),
        ),
        (
            503,
            vec![("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")],
            None,
        ),
        (503, vec![("retry-after", "4294967295")], Some(604_800_000)),
        (500, vec![("retry-after", "soon")], None),
        (302, vec![], None),
    ] {
        let error = fetch(answer(status, &headers, "<p>no")).expect_err("no success");
        let Error::Upstream(Upstream {
            status: got,
            retry_after_ms,
            sent,
            message,
        }) = error
        else {
            panic!("{error}")
        };
        assert_eq!(
            (got, retry_after_ms, sent),
            (Some(status), wait, true),
            "{message}"
        );
        assert!(
            message.starts_with("https://example.com/dir/page: "),
            "{message}"
        );
    }
}

#[test]
fn texts_are_given_as_they_are() {
    for (content_type, body) in [
        ("text/plain", "a <b>\n  * c"),
        ("application/json; charset=utf-8", "{\"a\": [1]}"),
        ("application/rss+xml", "<?xml version=\"1.0\"?><rss/>"),
        ("text/markdown", "# T\n\n[x](y)"),
    ] {
        let text = fetch(answer(200, &[("content-type", content_type)], body)).expect("a text");
        assert_eq!(text, format!("URL: https://example.com/dir/page\n\n{body}"));
    }
}

#[test]
fn what_is_no_text_is_refused_by_its_media_type() {
    for (content_type, body, named) in [
        ("application/pdf", &b"%PDF-1.7"[..], "application/pdf"),
        ("image/png", b"\x89PNG", "image/png"),
        ("application/zip", b"PK", "application/zip"),
        (
            "application/octet-stream",
            b"\0\x01",
            "application/octet-stream",
        ),
        ("", b"\0\x01", "unknown media type"),
    ] {
        let error =
            fetch(answer(200, &[("content-type", content_type)], body)).expect_err("no text");
        assert!(
            matches!(&error, Error::Failed(text) if text.contains(named)),
            "{error}"
        );
    }
}

#[test]
fn other_charsets_and_compression_are_read() {
    let latin = answer(
        200,
        &[("content-type", "text/html; charset=iso-8859-1")],
        &b"<p>caf\xe9"[..],
    );
    assert!(fetch(latin).expect("a page").ends_with("café"));
    let cyrillic = answer(200, &[HTML], &b"<meta charset=koi8-r><p>\xeb\xcf\xd4"[..]);
    assert!(fetch(cyrillic).expect("a page").ends_with("Кот"));

    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, b"<p>packed").expect("memory");
    let packed = answer(
        200,
        &[HTML, ("Content-Encoding", "gzip")],
        encoder.finish().expect("memory"),
    );
    assert!(fetch(packed).expect("a page").ends_with("packed"));

    let error = fetch(answer(200, &[HTML, ("content-encoding", "br")], "x")).expect_err("unread");
    assert!(
        matches!(&error, Error::Failed(text) if text.contains("`br`")),
        "{error}"
    );
}

#[test]
fn a_compression_bomb_is_cut_with_a_note() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..64 {
        std::io::Write::write_all(&mut encoder, &vec![b'\n'; 1 << 20]).expect("memory");
    }
    let body = encoder.finish().expect("memory");
    let text =
        fetch(answer(200, &[HTML, ("content-encoding", "gzip")], body)).expect("its beginning");
    assert!(
        text.contains("[The page has no text.]") && text.contains("too large"),
        "{text}"
    );
}

#[test]
fn a_long_page_says_how_to_read_on_and_then_is_read_on() {
    let html: String = (0..2_000)
        .map(|n| format!("<p>Paragraph number {n}.</p>"))
        .collect();
    let read = |start: u32| {
        let input =
            json!({ "url": "https://example.com/", "max_characters": 1000, "start": start });
        fetch_with(answer(200, &[HTML], html.clone()), input).expect("a page")
    };
    let first = read(0);
    let next = first
        .rsplit("start=")
        .next()
        .and_then(|rest| rest.split('.').next());
    let next: u32 = next
        .and_then(|next| next.parse().ok())
        .expect("where to go on");
    assert!(first.len() < 1_300, "{}", first.len());
    let last_paragraph = first
        .lines()
        .rfind(|line| line.starts_with("Paragraph"))
        .expect("one");
    let number: u32 = last_paragraph
        .trim_start_matches("Paragraph number ")
        .trim_end_matches('.')
        .parse()
        .expect("a whole paragraph");
    assert!(read(next).contains(&format!("\n\nParagraph number {}.", number + 1)));
}
