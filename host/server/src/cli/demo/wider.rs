//! Components with one wish more, as their author would make them by adding to `wishes(…)`.

use serde_json::{Value, json};

/// The custom section in which the SDK's macro puts wishes.
const SECTION: &str = "bulkhead:wishes";

/// `component` whose `tool` wishes for `wishes` too: its digest and its wishes differ, its code
/// is the same.
pub(super) fn version(component: &[u8], tool: &str, wishes: &Value) -> Vec<u8> {
    let payload = format!("{}\n", json!({"tool": tool, "wishes": wishes}));
    let mut section = Vec::new();
    write_length(&mut section, SECTION.len());
    section.extend(SECTION.as_bytes());
    section.extend(payload.as_bytes());
    let mut wider = component.to_vec();
    wider.push(0);
    write_length(&mut wider, section.len());
    wider.extend(section);
    wider
}

/// A length as WebAssembly writes it (LEB128).
fn write_length(out: &mut Vec<u8>, mut length: usize) {
    loop {
        let low = (length & 0x7f) as u8;
        length >>= 7;
        if length == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_seven_bits_a_byte() {
        let of = |length| {
            let mut out = Vec::new();
            write_length(&mut out, length);
            out
        };
        assert_eq!(of(5), [5]);
        assert_eq!(of(300), [0xac, 0x02]);
    }
}
