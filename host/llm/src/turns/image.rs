//! Images as vendors take them: in the request, or by an address.

use bulkhead_domain::ImageSource;

/// What an image is taken for when nobody said: the commonest of what clients send unnamed.
const UNNAMED: &str = "image/png";

/// An image that can be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picture<'a> {
    /// In the request.
    Inline {
        /// For example `image/png`.
        media_type: &'a str,
        /// Base64.
        data: &'a str,
    },
    /// On the web.
    Url(&'a str),
}

impl<'a> Picture<'a> {
    /// None for an image whose data is not at hand.
    pub(crate) fn of(source: &'a ImageSource) -> Option<Self> {
        match source {
            ImageSource::Url { url } => Some(from_data_url(url).unwrap_or(Self::Url(url))),
            ImageSource::Base64 {
                media_type, data, ..
            } => Some(Self::Inline { media_type, data }),
            ImageSource::Letta {
                media_type, data, ..
            } => Some(Self::Inline {
                media_type: media_type.as_deref().unwrap_or(UNNAMED),
                data: data.as_deref()?,
            }),
        }
    }
}

/// `data:image/png;base64,…`, which clients put where an address belongs.
fn from_data_url(url: &str) -> Option<Picture<'_>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    let media_type = match media_type.split_once(';') {
        Some((media_type, _)) => media_type,
        None => media_type,
    };
    Some(Picture::Inline {
        media_type: if media_type.is_empty() {
            UNNAMED
        } else {
            media_type
        },
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_url_is_an_inline_image_and_missing_data_is_none() {
        let url = |url: &str| ImageSource::Url {
            url: url.to_owned(),
        };
        assert_eq!(
            Picture::of(&url("data:image/gif;base64,R0lG")),
            Some(Picture::Inline {
                media_type: "image/gif",
                data: "R0lG"
            })
        );
        assert_eq!(
            Picture::of(&url("https://example.com/a.png")),
            Some(Picture::Url("https://example.com/a.png"))
        );
        let gone = ImageSource::Letta {
            file_id: "file-1".to_owned(),
            media_type: None,
            data: None,
            detail: None,
        };
        assert_eq!(Picture::of(&gone), None);
    }
}
