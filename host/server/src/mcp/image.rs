//! Images of a result. Providers of models refuse a conversation for good that holds an image which is
//! none, or whose type is not that of its bytes: such ones become text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bulkhead_domain::{ImageSource, Part};
use bulkhead_mcp::{Content, ToolResult};
use uuid::Uuid;

/// Images of one result that a model is shown; models take few.
const IMAGES_MAX: usize = 4;
/// Bytes of all of them as base64, which are stored with the message.
const BYTES_MAX: usize = 5 << 20;
/// Pixels of a side; providers refuse larger ones.
const SIDE_MAX: u32 = 8000;
/// Characters that are shown of a type that a server names.
const TYPE_MAX: usize = 100;

/// Takes the images out of a result that models can be shown. What is none is text from now on, and
/// the type of the others is that of their bytes. None where there are no images.
pub(super) fn take(result: &mut ToolResult) -> Option<Vec<Part>> {
    let (mut images, mut bytes) = (Vec::new(), 0_usize);
    for part in &mut result.content {
        let Content::Image { media_type, data } = part else {
            continue;
        };
        let found = STANDARD.decode(&*data).ok();
        let Some(found) = found.as_deref().and_then(kind) else {
            *part = Content::Text(mark(media_type, data.len()));
            continue;
        };
        *media_type = found.to_owned();
        bytes = bytes.saturating_add(data.len());
        if images.len() < IMAGES_MAX && bytes <= BYTES_MAX {
            images.push(Part::Image {
                source: ImageSource::Letta {
                    file_id: format!("file-{}", Uuid::new_v4()),
                    media_type: Some(found.to_owned()),
                    data: Some(data.clone()),
                    detail: None,
                },
            });
        }
    }
    (!images.is_empty()).then_some(images)
}

/// What stands in the place of an image that is none.
fn mark(media_type: &str, base64: usize) -> String {
    let named = media_type.chars().filter(|c| !c.is_control());
    let named: String = named.take(TYPE_MAX).collect();
    format!(
        "[not an image that models take: {named}, {} bytes]",
        base64 / 4 * 3
    )
}

/// The media type of an image by its first bytes, of those that every provider takes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let fits = |width: u32, height: u32| {
        (1..=SIDE_MAX).contains(&width) && (1..=SIDE_MAX).contains(&height)
    };
    match bytes {
        // Signature, length and name of the first chunk, width and height in it.
        [
            0x89,
            b'P',
            b'N',
            b'G',
            b'\r',
            b'\n',
            0x1a,
            b'\n',
            0,
            0,
            0,
            13,
            b'I',
            b'H',
            b'D',
            b'R',
            w0,
            w1,
            w2,
            w3,
            h0,
            h1,
            h2,
            h3,
            _,
            ..,
        ] => {
            let width = u32::from_be_bytes([*w0, *w1, *w2, *w3]);
            let height = u32::from_be_bytes([*h0, *h1, *h2, *h3]);
            fits(width, height).then_some("image/png")
        }
        [
            b'G',
            b'I',
            b'F',
            b'8',
            b'7' | b'9',
            b'a',
            w0,
            w1,
            h0,
            h1,
            _,
            ..,
        ] => {
            let width = u16::from_le_bytes([*w0, *w1]).into();
            let height = u16::from_le_bytes([*h0, *h1]).into();
            fits(width, height).then_some("image/gif")
        }
        // Start of image, and the first marker after it.
        [0xff, 0xd8, 0xff, 0xc0..=0xfe, _, ..] => Some("image/jpeg"),
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
            b'V',
            b'P',
            b'8',
            b' ' | b'L' | b'X',
            _,
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(media_type: &str, bytes: &[u8]) -> Content {
        Content::Image {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(bytes),
        }
    }

    fn png(side: u8) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0".to_vec();
        bytes.extend([side, 0, 0, 0, side, 8, 6, 0, 0, 0]);
        bytes
    }

    fn taken(content: Vec<Content>) -> (Option<Vec<Part>>, String) {
        let mut result = ToolResult {
            content,
            ..ToolResult::default()
        };
        let parts = take(&mut result);
        (parts, result.text())
    }

    #[test]
    fn the_type_is_that_of_the_bytes() {
        for (bytes, expected) in [
            (png(1), "image/png"),
            (b"GIF89a\x01\0\x01\0\0\0\0;".to_vec(), "image/gif"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF".to_vec(), "image/jpeg"),
            (b"RIFF\x1a\0\0\0WEBPVP8L\x0d".to_vec(), "image/webp"),
        ] {
            let (parts, _) = taken(vec![image("image/jpg", &bytes)]);
            let parts = parts.expect(expected);
            assert!(matches!(
                parts.as_slice(),
                [Part::Image { source: ImageSource::Letta { media_type: Some(found), .. } }]
                    if found == expected
            ));
        }
    }

    #[test]
    fn what_is_no_image_becomes_text() {
        let broken = Content::Image {
            media_type: "image/png".to_owned(),
            data: "no base64!".to_owned(),
        };
        for part in [
            image("image/png", b""),
            image("image/png", b"hello"),
            image("image/png", &png(0)),
            image("image/svg+xml", b"<svg/>"),
            image("image/png", b"\x89PNG\r\n\x1a\n"),
            broken,
        ] {
            let shown = format!("{part:?}");
            let (parts, text) = taken(vec![part]);
            assert!(parts.is_none(), "{shown}");
            assert!(
                text.starts_with("[not an image that models take: image/"),
                "{shown}: {text}"
            );
        }
    }

    #[test]
    fn a_model_is_shown_a_few_of_many() {
        let (parts, text) = taken(vec![image("image/png", &png(1)); IMAGES_MAX + 1]);
        assert_eq!(parts.map(|parts| parts.len()), Some(IMAGES_MAX));
        assert_eq!(text.lines().count(), IMAGES_MAX + 1);
    }
}
