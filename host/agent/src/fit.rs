//! Results that are too large to be stored together are cut: tools ran for them, and a step that is
//! not stored would lose them all.
//!
//! Images go first, then what was printed, the largest before the others; then texts are cut to one
//! length. Whatever is cut says so.

use bulkhead_domain::{ImageSource, Message, Part, Timestamp, ToolReturn};
use bulkhead_store::{check::DOCUMENT_MAX, message::expect_storable};
use serde_json::Value;

use crate::pack;

/// Why something is not there.
const WHY: &str = "the results of this step are too large to be stored together";
/// The most bytes that one byte of a text has as JSON (`\u0001`).
const BYTES_AS_JSON: usize = 6;

/// Cuts the results of a message until it can be stored.
pub(crate) fn fit(message: &mut Message, timezone: &str) {
    let bytes: usize = message.tool_returns.iter().map(bytes).sum();
    // Nearly all are far smaller, and are not written as JSON to learn that.
    if bytes < DOCUMENT_MAX / 2 / BYTES_AS_JSON || is_storable(message) {
        return;
    }
    leave_out_images(message);
    leave_out_printed(message);
    cut_texts(message, timezone);
}

fn is_storable(message: &Message) -> bool {
    expect_storable(message).is_ok()
}

/// Bytes of a result, about.
fn bytes(returned: &ToolReturn) -> usize {
    let parts = returned.parts.iter().flatten().map(|part| match part {
        Part::Text { text, .. } => text.len(),
        other => image_bytes(other),
    });
    let printed = [&returned.stdout, &returned.stderr];
    let printed = printed.into_iter().map(printed_bytes).sum::<usize>();
    returned.text.len() + returned.packed.len() + printed + parts.sum::<usize>()
}

fn image_bytes(part: &Part) -> usize {
    match part {
        Part::Image { source } => match source {
            ImageSource::Url { url } => url.len(),
            ImageSource::Base64 { data, .. } => data.len(),
            ImageSource::Letta { data, .. } => data.as_ref().map_or(0, String::len),
        },
        _ => 0,
    }
}

fn printed_bytes(printed: &Option<Vec<String>>) -> usize {
    printed.iter().flatten().map(String::len).sum()
}

fn leave_out_images(message: &mut Message) {
    let mut images = Vec::new();
    for (at, returned) in message.tool_returns.iter().enumerate() {
        let parts = returned.parts.iter().flatten().enumerate();
        images.extend(parts.map(|(part, image)| (image_bytes(image), at, part)));
    }
    images.retain(|(bytes, ..)| *bytes > 0);
    images.sort_unstable_by(|one, other| other.cmp(one));
    for (_, at, part) in images {
        if is_storable(message) {
            return;
        }
        let mut parts = message.tool_returns[at].parts.iter_mut().flatten();
        if let Some(image) = parts.nth(part) {
            *image = Part::text(format!("[an image was left out: {WHY}]"));
        }
    }
}

fn leave_out_printed(message: &mut Message) {
    let mut lists = Vec::new();
    for (at, returned) in message.tool_returns.iter().enumerate() {
        lists.push((printed_bytes(&returned.stdout), at, true));
        lists.push((printed_bytes(&returned.stderr), at, false));
    }
    lists.retain(|(bytes, ..)| *bytes > 0);
    lists.sort_unstable_by(|one, other| other.cmp(one));
    for (bytes, at, is_stdout) in lists {
        if is_storable(message) {
            return;
        }
        let returned = &mut message.tool_returns[at];
        let printed = match is_stdout {
            true => &mut returned.stdout,
            false => &mut returned.stderr,
        };
        *printed = Some(vec![format!("[{bytes} bytes were left out: {WHY}]")]);
    }
}

/// Cuts the longest texts to one length, half as long each time.
fn cut_texts(message: &mut Message, timezone: &str) {
    let whole: Vec<String> = message
        .tool_returns
        .iter()
        .map(|returned| returned.text.clone())
        .collect();
    let at = Timestamp::now();
    let mut most = whole.iter().map(String::len).max().unwrap_or(0);
    while most > 0 && !is_storable(message) {
        most /= 2;
        for (returned, whole) in message.tool_returns.iter_mut().zip(&whole) {
            if whole.len() <= most {
                continue;
            }
            let kept = &whole[..whole.floor_char_boundary(most)];
            let left_out = whole.len() - kept.len();
            returned.text = format!("{kept}… [{left_out} bytes were left out: {WHY}]");
            returned.packed = pack::tool_return(
                returned.status,
                &Value::from(returned.text.as_str()),
                at,
                timezone,
            );
            // They say the same, and at more length.
            returned.parts = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::{Role, ToolStatus, id::AgentId};

    use super::*;

    const MIB: usize = 1 << 20;

    fn result(text: String) -> ToolReturn {
        ToolReturn {
            tool_call_id: "call".to_owned(),
            name: "tool".to_owned(),
            status: ToolStatus::Success,
            packed: pack::tool_return(
                ToolStatus::Success,
                &Value::from(text.as_str()),
                Timestamp::now(),
                "UTC",
            ),
            text,
            stdout: None,
            stderr: None,
            parts: None,
            receipt_id: None,
        }
    }

    fn image(bytes: usize) -> Part {
        Part::Image {
            source: ImageSource::Base64 {
                media_type: "image/png".to_owned(),
                data: "A".repeat(bytes),
                detail: None,
            },
        }
    }

    fn message(tool_returns: Vec<ToolReturn>) -> Message {
        Message {
            tool_returns,
            ..Message::new(AgentId::random(), Role::Tool)
        }
    }

    #[test]
    fn what_can_be_stored_stays_as_it_is() {
        let mut message = message(vec![result("x".repeat(3 * MIB))]);
        let before = message.clone();
        fit(&mut message, "UTC");
        assert_eq!(message, before);
    }

    #[test]
    fn images_go_before_what_was_printed_and_that_before_texts() {
        let mut small = result("short".to_owned());
        small.parts = Some(vec![Part::text("seen"), image(5 * MIB), image(MIB)]);
        let mut loud = result("long".repeat(MIB / 8));
        loud.stdout = Some(vec!["x".repeat(4 * MIB)]);
        let mut one = message(vec![small.clone(), loud.clone()]);
        fit(&mut one, "UTC");
        let parts = one.tool_returns[0].parts.as_ref().unwrap();
        assert!(
            matches!(&parts[1], Part::Text { text, .. } if text.contains("image was left out"))
        );
        assert_eq!(parts[2], image(MIB), "the largest was enough");
        assert_eq!(one.tool_returns[1], loud);
        loud.stderr = Some(vec!["x".repeat(5 * MIB)]);
        let mut both = message(vec![small, loud.clone()]);
        fit(&mut both, "UTC");
        let cut = &both.tool_returns[1];
        assert_eq!((&cut.text, &cut.stdout), (&loud.text, &loud.stdout));
        assert!(cut.stderr.as_ref().unwrap()[0].starts_with("[5242880 bytes were left out"));
        expect_storable(&both).unwrap();
    }

    #[test]
    fn texts_are_cut_to_one_length_whatever_they_weigh_as_json() {
        let texts = [
            "é".repeat(3 * MIB),
            "\u{1}".repeat(2 * MIB),
            "short".to_owned(),
        ];
        let mut message = message(texts.iter().cloned().map(result).collect());
        fit(&mut message, "UTC");
        expect_storable(&message).unwrap();
        for (cut, whole) in message.tool_returns.iter().zip(&texts).take(2) {
            assert!(
                cut.text.contains("bytes were left out"),
                "{}",
                cut.text.len()
            );
            assert!(cut.text.len() > 1_000 && cut.text.len() < whole.len());
            assert!(cut.packed.contains("bytes were left out"));
        }
        assert_eq!(message.tool_returns[2].text, "short");
    }
}
