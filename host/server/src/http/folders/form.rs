//! The form of an upload: one file.

use axum::{
    body::Body,
    extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request},
};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

use super::upload::FILE_MAX;
use crate::{
    contract::{Refusal, fault::Fault},
    http::error::{self, Rejection},
};

/// Fields of a form. The contract has one.
const FIELDS_MAX: usize = 16;

/// A file as it was sent.
pub(super) struct Sent {
    pub(super) name: String,
    /// What the client says that it is.
    pub(super) media_type: Option<String>,
    pub(super) bytes: Bytes,
}

/// The file of a form whose bytes are there.
pub(super) async fn read(headers: &HeaderMap, body: Bytes) -> Result<Sent, Refusal> {
    let mut request = Request::new(Body::from(body));
    request.headers_mut().clone_from(headers);
    // Its size is known by now.
    DefaultBodyLimit::disable().apply(&mut request);
    let multipart = Multipart::from_request(request, &()).await;
    let mut multipart = multipart.map_err(|refused| malformed(&refused.body_text()))?;
    for _ in 0..FIELDS_MAX {
        let field = multipart.next_field().await;
        let Some(field) = field.map_err(|refused| malformed(&refused.body_text()))? else {
            return Err(missing());
        };
        if field.name() != Some("file") {
            continue;
        }
        let Some(name) = field.file_name().map(str::to_owned) else {
            return Err(missing());
        };
        let media_type = field.content_type().map(str::to_owned);
        let bytes = field.bytes().await;
        let bytes = bytes.map_err(|refused| malformed(&refused.body_text()))?;
        if bytes.len() > FILE_MAX {
            let kind = &error::BODY_TOO_LARGE;
            let text = format!("{} ({FILE_MAX} bytes of a file)", kind.text);
            return Err(Rejection::with(kind, text).into());
        }
        return Ok(Sent {
            name,
            media_type,
            bytes,
        });
    }
    Err(malformed(&format!("it has more than {FIELDS_MAX} fields")))
}

fn malformed(reason: &str) -> Refusal {
    Refusal::bad_request(format!("The form can't be read: {reason}"))
}

fn missing() -> Refusal {
    let place = vec![json!("body"), json!("file")];
    let fault = Fault::new("missing", place, "Field required", Value::Null);
    Refusal::invalid(&[fault], &[])
}
