//! Images as URLs, which is how OpenAI takes them.

use bulkhead_domain::{ImageSource, Part};

/// What stands for an image whose data is not there.
pub(crate) const MISSING: &str = "[an image that is not available]";

/// An image's URL (a `data:` one where the image is in the message) and its `detail`; none for
/// parts that are no image, and for images whose data is not there.
pub(crate) fn url(part: &Part) -> Option<(String, Option<&str>)> {
    let Part::Image { source } = part else {
        return None;
    };
    match source {
        ImageSource::Url { url } => Some((url.clone(), None)),
        ImageSource::Base64 {
            media_type,
            data,
            detail,
        } => Some((data_url(media_type, data), detail.as_deref())),
        ImageSource::Letta {
            media_type,
            data,
            detail,
            ..
        } => {
            let media_type = media_type.as_deref().unwrap_or("image/png");
            let url = data_url(media_type, data.as_deref()?);
            Some((url, detail.as_deref()))
        }
    }
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}
