//! Images that clients send: kept in the message, and fetched where only their address came.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bulkhead_domain::ImageSource;
use bulkhead_egress::{Access, EgressError, Request};
use bulkhead_policy::{HostPattern, HttpRule};
use uuid::Uuid;

use crate::{app::App, contract::Refusal};

/// Images of one request; models take no more.
const IMAGES_MAX: u32 = 20;
/// Bytes of one that is fetched: what providers take, before base64.
const BYTES_MAX: u64 = 5 << 20;
/// How long one may take: a client waits.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Requests that one may need, redirects included.
const REQUESTS_MAX: u64 = 5;

/// The images of one request.
pub(super) struct Images<'a> {
    app: &'a App,
    seen: u32,
}

impl<'a> Images<'a> {
    pub(super) fn of(app: &'a App) -> Self {
        Self { app, seen: 0 }
    }

    /// An image as it is kept: with its data, under an id of its own.
    pub(super) async fn kept(&mut self, source: ImageSource) -> Result<ImageSource, Refusal> {
        self.seen += 1;
        if self.seen > IMAGES_MAX {
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: a request may have {IMAGES_MAX} images at most"
            )));
        }
        let file_id = || format!("file-{}", Uuid::new_v4());
        Ok(match source {
            ImageSource::Base64 {
                media_type,
                data,
                detail,
            } => {
                check(&data)?;
                ImageSource::Letta {
                    file_id: file_id(),
                    media_type: Some(media_type),
                    data: Some(data),
                    detail,
                }
            }
            ImageSource::Url { url } => {
                let (media_type, data) = self.fetch(&url).await?;
                ImageSource::Letta {
                    file_id: file_id(),
                    media_type: Some(media_type),
                    data: Some(data),
                    detail: None,
                }
            }
            ImageSource::Letta {
                data: None,
                file_id,
                ..
            } => {
                return Err(Refusal::bad_request(format!(
                    "INVALID_ARGUMENT: the image {file_id} needs its data"
                )));
            }
            ImageSource::Letta {
                data: Some(data),
                file_id,
                media_type,
                detail,
            } => {
                check(&data)?;
                ImageSource::Letta {
                    data: Some(data),
                    file_id,
                    media_type,
                    detail,
                }
            }
        })
    }

    /// Fetches an image by the way that tools' requests go: to public addresses alone, each of them
    /// checked before it is connected to.
    async fn fetch(&self, url: &str) -> Result<(String, String), Refusal> {
        let failed = |reason: &str| {
            Refusal::bad_request(format!(
                "INVALID_ARGUMENT: Failed to fetch image from {url}: {reason}"
            ))
        };
        let parsed = url::Url::parse(url).map_err(|error| failed(&error.to_string()))?;
        let rule = HttpRule {
            port: parsed.port(),
            methods: Some(["GET".to_owned()].into()),
            max_response_bytes: Some(BYTES_MAX),
            ..HttpRule::to_host(HostPattern::ANY, None)
        };
        let session = self.app.egress.session(Access {
            rules: [rule].into(),
            requests: REQUESTS_MAX,
            response_bytes: BYTES_MAX,
            ..Access::none()
        });
        let request = Request {
            method: "GET".to_owned(),
            url: url.to_owned(),
            timeout: Some(TIMEOUT),
            ..Request::default()
        };
        let response = session.fetch(request).await;
        let response = response.map_err(|error| match error {
            // What it says of grants is for tools.
            EgressError::Denied { .. } => failed("it leads to an address that is not public"),
            error => failed(&error.to_string()),
        })?;
        if !(200..300).contains(&response.status) {
            return Err(failed(&format!("the server answered {}", response.status)));
        }
        let header = response
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let said = header
            .and_then(|(_, value)| value.split(';').next())
            .map(str::trim);
        let media_type = said
            .filter(|media_type| media_type.starts_with("image/"))
            .or_else(|| sniffed(&response.body))
            .ok_or_else(|| failed("it is no image"))?;
        Ok((media_type.to_owned(), STANDARD.encode(&response.body)))
    }
}

fn check(data: &str) -> Result<(), Refusal> {
    expect_base64(data).map_err(|error| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: the data of an image is not base64: {error}"
        ))
    })
}

/// Fails where the data of an image is not base64.
pub(crate) fn expect_base64(data: &str) -> Result<(), base64::DecodeError> {
    STANDARD.decode(data).map(drop)
}

/// What the first bytes say, of the kinds that models see.
fn sniffed(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
