//! Whether a path lies under a prefix, however a server might decode it.
//!
//! The URL parser has already resolved `.` and `..`, spelled `%2e` too. What it leaves can still
//! be decoded by a server or a proxy: `/v1/..%2fadmin`, `/v1/%5c..%5cadmin`, `/v1/..;/admin`,
//! `/v1/%252e%252e/admin`. A prefix is therefore only granted where the path decodes in one step
//! to something without dot segments; `/group%2Fproject` stays usable.

/// Whether `path` is `prefix` or lies under it. A prefix that ends with a slash is not itself
/// among the paths without that slash.
pub(crate) fn is_under(prefix: &str, path: &str) -> bool {
    if prefix == "/" {
        return true;
    }
    let at_boundary = match path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/'),
        None => false,
    };
    at_boundary && is_unambiguous(path)
}

/// What is known of the segment that is being read.
#[derive(Clone, Copy)]
enum Segment {
    /// This many dots and nothing else.
    Dots(usize),
    /// The parameters after a `;` that followed one or two dots.
    ParametersOfDots,
    /// Anything else: a name.
    Name,
}

/// Whether decoding `path` can't change which segments it passes through.
pub(crate) fn is_unambiguous(path: &str) -> bool {
    let mut rest = path.as_bytes();
    let mut segment = Segment::Dots(0);
    while let [byte, after @ ..] = rest {
        rest = after;
        let byte = match byte {
            b'%' => match decode(rest) {
                // A second decoding would find an escape here; overlong UTF-8 can spell a dot.
                None | Some(b'%' | 0xc0 | 0xc1 | 0..=0x1f | 0x7f) => return false,
                Some(decoded) => {
                    rest = &rest[2..];
                    decoded
                }
            },
            byte => *byte,
        };
        segment = match (segment, byte) {
            (Segment::Dots(1 | 2) | Segment::ParametersOfDots, b'/' | b'\\') => return false,
            (_, b'/' | b'\\') => Segment::Dots(0),
            (Segment::Dots(dots), b'.') => Segment::Dots(dots + 1),
            (Segment::Dots(1 | 2), b';') => Segment::ParametersOfDots,
            (Segment::ParametersOfDots, _) => Segment::ParametersOfDots,
            _ => Segment::Name,
        };
    }
    !matches!(segment, Segment::Dots(1 | 2) | Segment::ParametersOfDots)
}

/// The byte that two hex digits stand for.
fn decode(digits: &[u8]) -> Option<u8> {
    let [high, low, ..] = digits else { return None };
    let high = char::from(*high).to_digit(16)?;
    let low = char::from(*low).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_at_a_segment() {
        for path in [
            "/v1",
            "/v1/",
            "/v1/x",
            "/v1/x/y.z",
            "/v1//x",
            "/v1/...",
            "/v1/.well-known",
        ] {
            assert!(is_under("/v1", path), "{path}");
        }
        for path in [
            "/", "/v", "/v10", "/v1x/", "/V1", "//v1", "/a/v1", "/v1%2fx",
        ] {
            assert!(!is_under("/v1", path), "{path}");
        }
        assert!(is_under("/v1/", "/v1/x"));
        assert!(is_under("/v1/", "/v1/"));
        assert!(!is_under("/v1/", "/v1"));
        assert!(is_under("/", "/anything/%2e%2e%2f"));
    }

    #[test]
    fn a_path_that_could_be_decoded_out_of_its_prefix_is_not_under_it() {
        for path in [
            "/v1/..%2fadmin",
            "/v1/%2e%2e%2fadmin",
            "/v1/..%5cadmin",
            "/v1/a%2f..%2f..%2fadmin",
            "/v1/%252e%252e%252fadmin",
            "/v1/..;/admin",
            "/v1/..;x=y/admin",
            "/v1/%2e%2e;/admin",
            "/v1/.%2e",
            "/v1/%2fx/..",
            "/v1/%00",
            "/v1/%c0%ae%c0%ae/admin",
            "/v1/%",
            "/v1/%2",
            "/v1/%zz",
            "/v1/..;",
        ] {
            assert!(!is_under("/v1", path), "{path}");
        }
    }

    #[test]
    fn ordinary_escapes_stay_usable_under_a_prefix() {
        for path in [
            "/v1/group%2Fproject",
            "/v1/a%20b",
            "/v1/%C3%BC",
            "/v1/a;b=c",
            "/v1/a..b",
        ] {
            assert!(is_under("/v1", path), "{path}");
        }
    }
}
