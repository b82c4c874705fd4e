//! What cargo reports on stdout, one JSON object a line.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A component that a report names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) package: String,
    pub(crate) manifest: PathBuf,
    pub(crate) path: PathBuf,
}

/// The component that a line reports; none for every other report.
pub(crate) fn component(line: &str) -> Option<Component> {
    let report: Value = serde_json::from_str(line).ok()?;
    if report["reason"] != "compiler-artifact" {
        return None;
    }
    let kinds = report["target"]["kind"].as_array()?;
    if !kinds.iter().any(|kind| kind == "cdylib") {
        return None;
    }
    let mut files = report["filenames"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .map(Path::new);
    let path = files.find(|file| {
        file.extension()
            .is_some_and(|extension| extension == "wasm")
    })?;
    Some(Component {
        package: package(report["package_id"].as_str()?).to_owned(),
        manifest: report["manifest_path"].as_str()?.into(),
        path: path.to_owned(),
    })
}

/// The name in a package id (`path+file:///folder#name@1.0.0`, or `…/name#1.0.0`).
fn package(id: &str) -> &str {
    let (source, fragment) = id.split_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => source
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(source),
    }
}

#[cfg(test)]
mod tests {
    use super::{component, package};

    #[test]
    fn a_package_id_has_the_name_in_one_of_two_places() {
        assert_eq!(
            package("path+file:///w/tools/demo#tool-demo@0.1.0"),
            "tool-demo"
        );
        assert_eq!(package("path+file:///w/tools/demo#0.1.0"), "demo");
    }

    #[test]
    fn of_all_reports_only_a_component_counts() {
        let artifact = |kind: &str, file: &str| {
            serde_json::json!({
                "reason": "compiler-artifact", "package_id": "path+file:///w/demo#0.1.0",
                "manifest_path": "/w/demo/Cargo.toml", "target": {"kind": [kind, "rlib"]},
                "filenames": ["/t/libdemo.rlib", file],
            })
            .to_string()
        };
        assert_eq!(
            component(&artifact("cdylib", "/t/demo.wasm")).map(|component| component.package),
            Some("demo".into())
        );
        assert_eq!(component(&artifact("proc-macro", "/t/demo.wasm")), None);
        assert_eq!(component(&artifact("cdylib", "/t/demo.so")), None);
        assert_eq!(
            component(r#"{"reason":"build-finished","success":true}"#),
            None
        );
        assert_eq!(component("no JSON"), None);
    }
}
