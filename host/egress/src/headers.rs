//! Which headers pass, in both directions.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{EgressError, Scrubber, error::excerpt};

/// Headers of one request; browsers send about twenty.
pub const MAX_REQUEST_HEADERS: usize = 100;
/// Bytes of all names and values of one request; servers commonly refuse more than 8 to 32 KiB.
pub const MAX_REQUEST_HEADER_BYTES: usize = 32 << 10;
/// Headers of one answer; large sites send about fifty.
pub const MAX_RESPONSE_HEADERS: usize = 128;
/// Bytes of the head of one answer; cookies and policies take some, 64 KiB is far above.
pub const MAX_RESPONSE_HEADER_BYTES: usize = 64 << 10;

/// Whether a header belongs to the connection or to the way of the message over it. Host and
/// guest could disagree about it, which is how requests are smuggled.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(
        name,
        "connection"
            | "content-length"
            | "expect"
            | "host"
            | "http2-settings"
            | "keep-alive"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    ) || name.starts_with("proxy-")
}

/// The headers of a guest's request, checked.
pub(crate) fn from_guest(pairs: &[(String, String)]) -> Result<HeaderMap, EgressError> {
    if pairs.len() > MAX_REQUEST_HEADERS {
        return Err(too_many());
    }
    let mut headers = HeaderMap::with_capacity(pairs.len());
    for (name, value) in pairs {
        let shown = || excerpt(name);
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| EgressError::Invalid(format!("`{}` is no header name", shown())))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
            let message = format!(
                "the value of the header `{}` has control characters",
                shown()
            );
            EgressError::Invalid(message)
        })?;
        headers.append(name, value);
    }
    check_guest(&headers)?;
    Ok(headers)
}

/// Refuses what a guest may not set, and too much of anything.
pub(crate) fn check_guest(headers: &HeaderMap) -> Result<(), EgressError> {
    if headers.len() > MAX_REQUEST_HEADERS {
        return Err(too_many());
    }
    let bytes = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    if bytes.sum::<usize>() > MAX_REQUEST_HEADER_BYTES {
        let message = format!("the headers have more than {MAX_REQUEST_HEADER_BYTES} bytes");
        return Err(EgressError::Invalid(message));
    }
    match headers.keys().find(|name| is_reserved(name)) {
        Some(name) => Err(EgressError::Invalid(format!(
            "the header `{name}` is set by the host"
        ))),
        None => Ok(()),
    }
}

fn too_many() -> EgressError {
    EgressError::Invalid(format!("more than {MAX_REQUEST_HEADERS} headers"))
}

/// Removes what a guest set to identify itself, when a redirect leads to another origin.
pub(crate) fn drop_identity(headers: &mut HeaderMap) {
    headers.remove(header::AUTHORIZATION);
    headers.remove(header::COOKIE);
}

/// Removes what describes a body, when a redirect drops the body.
pub(crate) fn drop_body_description(headers: &mut HeaderMap) {
    for name in [
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_LOCATION,
    ] {
        headers.remove(name);
    }
}

/// The headers of an answer as the guest may see them: without those of the connection, without
/// secrets.
pub(crate) fn for_guest(headers: &HeaderMap, scrubber: &Scrubber) -> HeaderMap {
    let mut shown = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let connection = is_reserved(name) && *name != header::CONTENT_LENGTH;
        if connection || scrubber.finds(name.as_str().as_bytes()) {
            continue;
        }
        // Masking writes asterisks, so that the value stays one.
        let masked = HeaderValue::from_bytes(&scrubber.redact_bytes(value.as_bytes()));
        if let Ok(masked) = masked {
            shown.append(name.clone(), masked);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str) -> Result<HeaderMap, EgressError> {
        from_guest(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn headers_of_the_connection_are_refused() {
        for name in [
            "Host",
            "connection",
            "Transfer-Encoding",
            "Content-Length",
            "Upgrade",
            "TE",
            "Trailer",
            "Proxy-Authorization",
            "Proxy-Connection",
            "Keep-Alive",
            "Expect",
            "HTTP2-Settings",
        ] {
            assert!(
                matches!(check(name, "x"), Err(EgressError::Invalid(_))),
                "{name}"
            );
        }
        assert!(check("X-Anything", "x").is_ok());
    }

    #[test]
    fn a_header_with_a_line_break_is_refused() {
        for (name, value) in [
            ("x", "a\r\nHost: b"),
            ("x", "a\nb"),
            ("x", "a\0b"),
            ("x\r\ny", "a"),
            ("", "a"),
            ("x y", "a"),
            ("x:", "a"),
        ] {
            assert!(
                matches!(check(name, value), Err(EgressError::Invalid(_))),
                "{name:?} {value:?}"
            );
        }
    }

    #[test]
    fn too_many_and_too_large_headers_are_refused() {
        let many = vec![("x".to_owned(), String::new()); MAX_REQUEST_HEADERS + 1];
        assert!(from_guest(&many).is_err());
        assert!(check("x", &"a".repeat(MAX_REQUEST_HEADER_BYTES)).is_err());
    }
}
