//! Undoes the compression of an answer.
//!
//! The tool asks for none, and the host decodes none; some servers compress all the same.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Encodings on top of each other; a real answer has one.
const MAX_LAYERS: usize = 3;

/// Why a body can't be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum EncodingError {
    /// The encoding is one that is not read here.
    #[error(
        "the server sent the page with the content encoding `{0}`, which it was asked not to and which can't be read here"
    )]
    Unknown(String),
    /// The bytes are not what they are said to be.
    #[error("the server's answer is no valid {0}")]
    Broken(String),
}

/// The decoded body, at most `limit` bytes of it, and whether there is more.
pub(crate) fn decode<'a>(
    body: &'a [u8],
    header: &str,
    limit: usize,
) -> Result<(Cow<'a, [u8]>, bool), EncodingError> {
    let layers: Vec<String> = header
        .split(',')
        .map(|layer| layer.trim().to_ascii_lowercase())
        .filter(|layer| !layer.is_empty() && layer != "identity")
        .collect();
    if layers.len() > MAX_LAYERS {
        return Err(EncodingError::Unknown(header.chars().take(100).collect()));
    }
    let mut body = Cow::Borrowed(body);
    let mut more = false;
    // The last one named was applied last.
    for layer in layers.into_iter().rev() {
        let decoded = match &*layer {
            "gzip" | "x-gzip" => read(MultiGzDecoder::new(&*body), limit),
            // Servers disagree on whether this is zlib or bare deflate; the first byte tells.
            "deflate" if body.first().is_some_and(|byte| byte & 0x0f == 8) => {
                read(ZlibDecoder::new(&*body), limit)
            }
            "deflate" => read(DeflateDecoder::new(&*body), limit),
            _ => return Err(EncodingError::Unknown(layer.chars().take(100).collect())),
        };
        let (bytes, longer) = decoded.ok_or(EncodingError::Broken(layer))?;
        more |= longer;
        body = Cow::Owned(bytes);
    }
    if body.len() > limit {
        more = true;
        match &mut body {
            Cow::Borrowed(bytes) => *bytes = &bytes[..limit],
            Cow::Owned(bytes) => bytes.truncate(limit),
        }
    }
    Ok((body, more))
}

/// Reads up to the limit. A stream that breaks off after some bytes gives these.
fn read(source: impl Read, limit: usize) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let mut source = source.take(u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1));
    let ended = source.read_to_end(&mut bytes).is_ok();
    if !ended && bytes.is_empty() {
        return None;
    }
    let more = !ended || bytes.len() > limit;
    bytes.truncate(limit);
    Some((bytes, more))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("writes to memory");
        encoder.finish().expect("writes to memory")
    }

    fn decoded(body: &[u8], header: &str) -> Vec<u8> {
        decode(body, header, 1000)
            .expect("it decodes")
            .0
            .into_owned()
    }

    #[test]
    fn gzip_and_both_readings_of_deflate_are_undone() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(b"text").expect("writes to memory");
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(b"text").expect("writes to memory");
        assert_eq!(decoded(&gzip(b"text"), "gzip"), b"text");
        assert_eq!(decoded(&gzip(&gzip(b"text")), "gzip, X-GZIP"), b"text");
        assert_eq!(decoded(&zlib.finish().expect("ends"), "deflate"), b"text");
        assert_eq!(decoded(&bare.finish().expect("ends"), "deflate"), b"text");
        assert_eq!(decoded(b"text", "identity"), b"text");
        assert_eq!(decoded(b"text", ""), b"text");
    }

    #[test]
    fn a_bomb_is_read_up_to_the_limit() {
        let bomb = gzip(&vec![b'a'; 5_000_000]);
        let (bytes, more) = decode(&bomb, "gzip", 1000).expect("it decodes");
        assert_eq!((bytes.len(), more), (1000, true));
        assert!(decode(&[b'a'; 2000], "", 1000).expect("plain").1);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let unknown = decode(b"x", "br", 10).expect_err("brotli is not read");
        assert_eq!(unknown, EncodingError::Unknown("br".to_owned()));
        let broken = decode(b"no gzip", "gzip", 10).expect_err("it is none");
        assert_eq!(broken, EncodingError::Broken("gzip".to_owned()));
        assert!(decode(b"x", "gzip,gzip,gzip,gzip", 10).is_err());
    }

    #[test]
    fn a_stream_that_breaks_off_gives_what_came() {
        let text: Vec<u8> = (0u32..50_000)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let mut body = gzip(&text);
        body.truncate(body.len() / 2);
        let (bytes, more) = decode(&body, "gzip", 1_000_000).expect("the beginning");
        assert!(more && !bytes.is_empty() && text.starts_with(&bytes));
    }
}
