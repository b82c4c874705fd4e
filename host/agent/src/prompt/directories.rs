//! The section of the folders that an agent has: which files are in them, and what it sees of those
//! that are open.

use std::fmt::Write as _;

use bulkhead_domain::{Agent, AgentFile};
use bulkhead_store::Directory;

/// The section; empty without folders.
pub(super) fn section(agent: &Agent, directories: &[Directory], open: usize) -> String {
    if directories.is_empty() {
        return String::new();
    }
    let number = |limit: Option<i64>| limit.unwrap_or_default();
    let mut text = format!(
        "<directories>\n<file_limits>\n- current_files_open={open}\n- max_files_open={}\n\
         </file_limits>\n",
        number(agent.max_files_open)
    );
    for Directory { folder, files } in directories {
        let _ = writeln!(text, "<directory name=\"{}\">", quoted(&folder.name));
        for (tag, about) in [
            ("description", &folder.description),
            ("instructions", &folder.instructions),
        ] {
            if let Some(about) = about {
                let _ = writeln!(text, "<{tag}>{about}</{tag}>");
            }
        }
        for file in files {
            self::file(
                &mut text,
                file,
                number(agent.per_file_view_window_char_limit),
            );
        }
        text.push_str("</directory>\n");
    }
    text.push_str("</directories>");
    text
}

fn file(text: &mut String, file: &AgentFile, chars_limit: i64) {
    let status = if file.is_open { "open" } else { "closed" };
    let visible = file.visible.as_deref().filter(|_| file.is_open);
    let _ = writeln!(
        text,
        "<file status=\"{status}\" name=\"{}\">\n<metadata>\n- read_only=true\n- \
         chars_current={}\n- chars_limit={chars_limit}\n</metadata>",
        quoted(&file.path),
        visible.map_or(0, |visible| visible.chars().count()),
    );
    if let Some(visible) = visible {
        let _ = writeln!(text, "<value>\n{visible}\n</value>");
    }
    text.push_str("</file>\n");
}

/// A name that can't end the attribute that it stands in.
fn quoted(name: &str) -> String {
    name.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
