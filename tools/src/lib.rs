//! The built-in tools, compiled to components.
//!
//! Each folder beside `src` is a guest; the build script compiles it, and here stand its bytes.
//!
//! ```
//! let (name, component) = bulkhead_tools::ALL[0];
//! assert_eq!(name, "demo");
//! assert_eq!(component, bulkhead_tools::DEMO);
//! ```
//!
//! The runtimes of languages are no tools: [`JAVASCRIPT`], and [`PYTHON`] where the machine that
//! built this could make it.

include!(concat!(env!("OUT_DIR"), "/guests.rs"));
include!(concat!(env!("OUT_DIR"), "/python.rs"));

#[cfg(test)]
mod tests {
    use wasmparser::{Encoding, Parser, Payload};

    /// The custom section that `#[tool]` writes.
    const SECTION: &str = "bulkhead:wishes";

    /// Tools and what they wish for, read without running anything.
    fn wishes(component: &[u8]) -> Vec<serde_json::Value> {
        let mut lines = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            if let Payload::CustomSection(section) = payload.expect("the component parses")
                && section.name() == SECTION
            {
                let text = std::str::from_utf8(section.data()).expect("the section is text");
                lines.extend(
                    text.lines()
                        .map(|line| serde_json::from_str(line).expect("a line is JSON")),
                );
            }
        }
        lines
    }

    /// The interfaces that a component imports.
    fn imports(component: &[u8]) -> Vec<String> {
        let mut depth = 0_u32;
        let mut names = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            match payload.expect("the component parses") {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    let imports = section
                        .into_iter()
                        .map(|import| import.expect("the import parses"));
                    names.extend(imports.map(|import| import.name.name.to_owned()));
                }
                _ => {}
            }
        }
        names
    }

    #[test]
    fn every_built_in_tool_is_a_component() {
        for expected in [
            "demo",
            "fetch_webpage",
            "files",
            "memory",
            "messages",
            "recall",
            "web_search",
        ] {
            assert!(
                super::ALL.iter().any(|(name, _)| *name == expected),
                "{expected}"
            );
        }
        for (name, bytes) in super::ALL {
            let first = Parser::new(0)
                .parse_all(bytes)
                .next()
                .expect("there is a header")
                .expect("the header parses");
            assert!(
                matches!(
                    first,
                    Payload::Version {
                        encoding: Encoding::Component,
                        ..
                    }
                ),
                "{name}"
            );
        }
    }

    #[test]
    fn wishes_can_be_read_without_running_the_component() {
        let expected = serde_json::json!({
            "tool": "fetch_title",
            "wishes": { "http": ["https://*", "http://*"] }
        });
        assert_eq!(wishes(super::DEMO), [expected]);
    }

    #[test]
    fn what_agents_have_by_default_reaches_their_own_memory_and_no_further() {
        let any_block = serde_json::json!({ "memory": { "labels": ["*"], "write": true } });
        let own_block = serde_json::json!({ "memory": { "labels": ["human"], "write": true } });
        let recall = serde_json::json!({ "recall": true });
        let agents = serde_json::json!({ "agents": ["*"] });
        let files = serde_json::json!({ "files": true });
        for (component, allowed) in [
            (super::MEMORY, vec![&any_block, &own_block]),
            (super::RECALL, vec![&recall]),
            (super::MESSAGES, vec![&agents]),
            (super::FILES, vec![&files]),
        ] {
            let wishes = wishes(component);
            assert!(!wishes.is_empty());
            for line in wishes {
                assert!(allowed.contains(&&line["wishes"]), "{line}");
            }
            for absent in [
                "wasi:sockets",
                "wasi:filesystem",
                "wasi:http",
                "bulkhead:tool/http",
            ] {
                let imports = imports(component);
                assert!(
                    !imports.iter().any(|name| name.starts_with(absent)),
                    "{absent}: {imports:?}"
                );
            }
        }
    }

    #[test]
    fn a_component_imports_only_what_its_tools_use() {
        let imports = imports(super::DEMO);
        let own = imports.iter().filter(|name| name.starts_with("bulkhead:"));
        let expected = [
            "bulkhead:tool/types@0.1.0",
            "bulkhead:tool/context@0.1.0",
            "bulkhead:tool/http@0.1.0",
        ];
        assert_eq!(own.collect::<Vec<_>>(), expected);
        for absent in [
            "wasi:sockets",
            "wasi:filesystem",
            "wasi:random",
            "wasi:clocks",
            "wasi:http",
        ] {
            assert!(
                !imports.iter().any(|name| name.starts_with(absent)),
                "{absent}: {imports:?}"
            );
        }
    }

    #[test]
    fn no_component_names_a_folder_of_the_machine_that_built_it() {
        let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let workspace = std::fs::canonicalize(workspace).expect("the workspace is there");
        let home = std::env::var_os("CARGO_HOME").map(std::path::PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        for folder in [Some(workspace), home].into_iter().flatten() {
            let folder = folder.into_os_string().into_string().expect("UTF-8");
            for (name, bytes) in super::ALL {
                let found = bytes
                    .windows(folder.len())
                    .position(|part| part == folder.as_bytes());
                let around = found.map(|at| String::from_utf8_lossy(&bytes[at..at + 90]));
                assert_eq!(around, None, "{name}");
            }
        }
    }
}
