//! A component for people: what `check` found in a file and what a server says of one are shown
//! alike, from the same JSON.

use bulkhead_policy::{Capabilities, Change, Diff};
use bulkhead_sandbox::Component;
use serde_json::{Value, json};

use super::{
    receipt::short,
    screen::{Paint, Screen},
    units::show_bytes,
};

/// A component in the form of the HTTP API, as far as it is known without a server.
pub(crate) fn to_json(component: &Component) -> Value {
    let tools = component.tools().map(|(info, wishes)| {
        json!({
            "name": info.name,
            "description": info.description,
            "input_schema": info.input_schema,
            "output_schema": info.output_schema,
            "annotations": info.annotations,
            "wishes": wishes,
        })
    });
    let skipped = component
        .skipped()
        .map(|(path, reason)| json!({"path": path, "reason": reason}));
    json!({
        "digest": component.digest(),
        "kind": component.kind(),
        "size": component.size(),
        "pure": component.is_pure(),
        "imports": component.imports(),
        "wishes": component.wishes(),
        "tools": tools.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
    })
}

/// The head of a component: digest, size, kind.
pub(crate) fn show_head(view: &Value, screen: &Screen) {
    if let Some(name) = view["name"].as_str() {
        let status = view["status"].as_str().unwrap_or_default();
        screen.out(format_args!("{} {status}", screen.paint(name, Paint::Bold)));
    }
    screen.out(format_args!("digest   {}", text(view, "digest")));
    screen.out(format_args!(
        "size     {}, {} component",
        show_bytes(view["size"].as_u64().unwrap_or(0)),
        text(view, "kind")
    ));
    let purity = if view["pure"].as_bool() == Some(true) {
        screen.paint(
            "pure: imports nothing that reaches beyond its input and output",
            Paint::Green,
        )
    } else {
        "has effects, each only as far as it is granted".to_owned()
    };
    screen.out(format_args!("effects  {purity}"));
}

/// All of a component; schemas only where `schemas` says so.
pub(crate) fn show(view: &Value, schemas: bool, screen: &Screen) {
    show_head(view, screen);
    heading("imports", array(view, "imports").len(), screen);
    for import in array(view, "imports") {
        let effect = if import["effect"].as_bool() == Some(true) {
            screen.paint("effect", Paint::Yellow)
        } else {
            screen.paint("none", Paint::Dim)
        };
        screen.out(format_args!("  {:<42} {effect}", text(import, "name")));
    }
    let wishes = wish_lines(&view["wishes"]);
    heading("wishes", wishes.len(), screen);
    for wish in wishes {
        screen.out(format_args!("  {wish}"));
    }
    heading("tools", array(view, "tools").len(), screen);
    for tool in array(view, "tools") {
        show_tool(tool, schemas, screen);
    }
    if !array(view, "skipped").is_empty() {
        heading(
            "exports that are no tools",
            array(view, "skipped").len(),
            screen,
        );
        for skipped in array(view, "skipped") {
            screen.out(format_args!(
                "  {}: {}",
                text(skipped, "path"),
                text(skipped, "reason")
            ));
        }
    }
}

/// One line a component.
pub(crate) fn show_line(view: &Value, screen: &Screen) {
    let tools: Vec<&str> = array(view, "tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    screen.out(format_args!(
        "{:<24} {:<8} {:<20} {:>10}  {}",
        text(view, "name"),
        text(view, "status"),
        short(text(view, "digest")),
        show_bytes(view["size"].as_u64().unwrap_or(0)),
        tools.join(", ")
    ));
}

/// What a set of capabilities allows, a line each.
pub(crate) fn wish_lines(value: &Value) -> Vec<String> {
    match serde_json::from_value::<Capabilities>(value.clone()) {
        Ok(all) => change_lines(&Diff::between(&Capabilities::default(), &all).added),
        // A newer server's capabilities: shown as they are.
        Err(_) => vec![value.to_string()],
    }
}

/// Capabilities, a line each.
pub(crate) fn change_lines(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| format!("{} {}", change.capability, change.value))
        .collect()
}

fn show_tool(tool: &Value, schemas: bool, screen: &Screen) {
    screen.out(format_args!(
        "  {}",
        screen.paint(text(tool, "name"), Paint::Bold)
    ));
    for line in text(tool, "description").lines() {
        screen.out(format_args!("    {line}"));
    }
    for parameter in parameters(&tool["input_schema"]) {
        screen.out(format_args!("    {}", screen.paint(parameter, Paint::Dim)));
    }
    if schemas {
        for key in ["input_schema", "output_schema"] {
            if !tool[key].is_null() {
                screen.out(format_args!("    {key}: {}", tool[key]));
            }
        }
    }
}

/// A line for each property of an input schema.
fn parameters(schema: &Value) -> Vec<String> {
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let required = array(schema, "required");
    let line = |(name, property): (&String, &Value)| {
        let optional = if required.iter().any(|entry| entry == name) {
            ""
        } else {
            "?"
        };
        let kind = match &property["type"] {
            Value::String(kind) => format!(": {kind}"),
            Value::Array(kinds) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                format!(": {}", kinds.join(" or "))
            }
            _ => String::new(),
        };
        let what = property["description"]
            .as_str()
            .map(|text| format!(" - {text}"));
        format!("{name}{optional}{kind}{}", what.unwrap_or_default())
    };
    properties.iter().map(line).collect()
}

fn heading(title: &str, count: usize, screen: &Screen) {
    let title = screen.paint(title, Paint::Bold);
    if count == 0 {
        screen.out(format_args!("{title}: none"));
    } else {
        screen.out(format_args!("{title}"));
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_line_that_a_person_understands() {
        let lines = wish_lines(&json!({
            "http": ["api.example.com"],
            "credentials": ["search"],
            "memory": {"labels": ["human"], "write": true},
            "state": true,
        }));
        assert_eq!(
            lines,
            [
                "http https://api.example.com",
                "credentials search",
                "state read and write",
                "memory read and write human",
            ]
        );
        assert!(wish_lines(&json!({})).is_empty());
    }

    #[test]
    fn parameters_say_type_and_whether_they_may_be_left_out() {
        let schema = json!({
            "properties": {"a": {"type": "string", "description": "who"}, "b": {"type": "integer"}},
            "required": ["a"],
        });
        assert_eq!(parameters(&schema), ["a: string - who", "b?: integer"]);
    }
}
