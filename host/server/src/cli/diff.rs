//! `bulkhead tool diff`: what a new version wants more, and how its tools changed.

use std::path::Path;

use bulkhead_policy::{Capabilities, Diff};
use clap::Args;
use serde_json::{Value, json};

use super::{
    client::{Client, ServerArgs, segment},
    error::CliError,
    exit::Exit,
    files, run,
    screen::{Paint, Screen},
    view::{self, array, text},
};

const EXAMPLES: &str = "\
Examples:
  bulkhead tool diff old.wasm new.wasm        two files, without a server
  bulkhead tool diff search new.wasm          a file against the active version on a server
  bulkhead tool diff sha256:9f2c…             a pending version against the active one

The exit code is 0 whether they differ or not; with --json, `wider` says if a person is asked.";

/// Compare two versions: wishes, tools, schemas
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The old version: a file, or a name or digest on the server
    old: String,
    /// The new version; without it, OLD is compared with the active version of its name
    new: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn diff(args: DiffArgs, screen: Screen) -> Result<Exit, CliError> {
    let diff = match &args.new {
        Some(new) => between(
            &view(&args.old, &args.server).await?,
            &view(new, &args.server).await?,
        ),
        None => {
            let client = Client::new(&args.server)?;
            client
                .get(&format!("/v1/components/{}/diff", segment(&args.old)))
                .await?
        }
    };
    if screen.json {
        screen.document(&diff);
    } else {
        show(&diff, &screen);
    }
    Ok(Exit::Done)
}

/// A component in a file, where there is one of that name, or else on the server.
async fn view(reference: &str, server: &ServerArgs) -> Result<Value, CliError> {
    let path = Path::new(reference);
    let is_file = path.is_file()
        || path
            .extension()
            .is_some_and(|extension| extension == "wasm");
    if !is_file {
        return Client::new(server)?
            .get(&format!("/v1/components/{}", segment(reference)))
            .await;
    }
    let bytes = files::read_component(path)?;
    let component = run::sandbox()?
        .install(bytes)
        .await
        .map_err(|error| CliError::install(&error))?;
    Ok(view::to_json(&component))
}

/// The difference of two components, in the form of the HTTP API.
fn between(old: &Value, new: &Value) -> Value {
    let wishes = |view: &Value| {
        serde_json::from_value::<Capabilities>(view["wishes"].clone()).unwrap_or_default()
    };
    let wishes = Diff::between(&wishes(old), &wishes(new));
    let find = |view: &Value, name: &str| {
        array(view, "tools")
            .iter()
            .find(|tool| text(tool, "name") == name)
            .cloned()
    };
    let names = |view: &Value, other: &Value| -> Vec<String> {
        let names = array(view, "tools")
            .iter()
            .map(|tool| text(tool, "name").to_owned());
        names.filter(|name| find(other, name).is_none()).collect()
    };
    let changed = array(new, "tools").iter().filter_map(|tool| {
        let name = text(tool, "name");
        let before = find(old, name)?;
        let differs = |key: &str| before[key] != tool[key];
        let change = json!({
            "name": name,
            "input_schema": differs("input_schema"),
            "output_schema": differs("output_schema"),
            "description": differs("description"),
        });
        let any = ["input_schema", "output_schema", "description"]
            .iter()
            .any(|key| differs(key));
        any.then_some(change)
    });
    json!({
        "against": old["digest"],
        "wider": wishes.is_wider(),
        "tools": {
            "added": names(new, old),
            "removed": names(old, new),
            "changed": changed.collect::<Vec<_>>(),
        },
        "wishes": wishes,
    })
}

/// A difference for people.
pub(crate) fn show(diff: &Value, screen: &Screen) {
    let mut any = false;
    let mut line = |sign: char, what: String| {
        let paint = if sign == '-' {
            Paint::Dim
        } else {
            Paint::Yellow
        };
        screen.out(format_args!("  {} {what}", screen.paint(sign, paint)));
        any = true;
    };
    for (sign, side) in [('+', "added"), ('-', "removed")] {
        for change in array(&diff["wishes"], side) {
            line(
                sign,
                format!(
                    "wish {} {}",
                    text(change, "capability"),
                    text(change, "value")
                ),
            );
        }
        for name in array(&diff["tools"], side) {
            line(sign, format!("tool {}", name.as_str().unwrap_or_default()));
        }
    }
    for tool in array(&diff["tools"], "changed") {
        let changed = ["description", "input_schema", "output_schema"];
        let changed = changed
            .iter()
            .filter(|key| tool[**key].as_bool() == Some(true));
        let changed: Vec<String> = changed.map(|key| key.replace('_', " ")).collect();
        line(
            '~',
            format!("tool {}: {}", text(tool, "name"), changed.join(", ")),
        );
    }
    if !any {
        screen.out("  no difference in wishes and tools");
    }
    if diff["wider"].as_bool() == Some(true) {
        let line = "  wider than before: a person has to accept it";
        screen.out(screen.paint(line, Paint::Yellow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_wish_is_wider_and_a_new_description_is_not() {
        let tool = |description: &str| json!({"name": "t", "description": description, "input_schema": {}, "output_schema": null});
        let old = json!({"digest": "sha256:a", "wishes": {}, "tools": [tool("one")]});
        let same = json!({"wishes": {}, "tools": [tool("two")]});
        let diff = between(&old, &same);
        assert_eq!(diff["wider"], false);
        assert_eq!(diff["tools"]["changed"][0]["description"], true);
        assert_eq!(diff["tools"]["changed"][0]["input_schema"], false);

        let wider =
            json!({"wishes": {"http": ["a.example"]}, "tools": [tool("one"), {"name": "u"}]});
        let diff = between(&old, &wider);
        assert_eq!(diff["wider"], true);
        assert_eq!(diff["tools"]["added"], json!(["u"]));
        assert_eq!(diff["wishes"]["added"][0]["capability"], "http");
        assert_eq!(between(&wider, &old)["wider"], false);
    }
}
