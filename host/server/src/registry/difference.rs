//! What a version changes against the active one of its name, and whether a person has to
//! agree first.

use bulkhead_domain::Digest;
use bulkhead_policy::{Capabilities, Diff};
use serde::Serialize;
use utoipa::ToSchema;

use super::description::{Description, ToolDescription};
use crate::http::schema;

/// How a version differs from the active one of its name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ComponentDiff)]
pub(crate) struct Difference {
    /// The active version; none where there is none.
    #[schema(value_type = Option<String>)]
    pub(crate) against: Option<Digest>,
    /// Wishes of all tools together.
    #[schema(value_type = schema::Diff)]
    pub(crate) wishes: Diff,
    /// Tools that came, went and changed.
    pub(crate) tools: ToolsDifference,
    /// Whether any tool wishes for more than the tool of its name did, so that nothing of this
    /// version runs before a person activates it.
    pub(crate) wider: bool,
}

/// Tools that came, went and changed.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ToolsDiff)]
pub(crate) struct ToolsDifference {
    /// Names of tools that the active version has not.
    pub(crate) added: Vec<String>,
    /// Names of tools that only the active version has.
    pub(crate) removed: Vec<String>,
    /// Tools of both that are not the same.
    pub(crate) changed: Vec<ToolChange>,
}

/// What of a tool changed.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ToolChange {
    /// Its name.
    name: String,
    /// Whether its input schema changed.
    input_schema: bool,
    /// Whether its output schema changed.
    output_schema: bool,
    /// Whether its description changed.
    description: bool,
    /// Whether its hints changed.
    annotations: bool,
    /// Whether its wishes changed.
    wishes: bool,
}

impl Difference {
    /// From `old`, the active version, to `new`.
    ///
    /// Wishes are compared tool by tool: one tool's wish, granted for the whole component, is
    /// no consent to another tool's.
    pub(crate) fn between(old: Option<(Digest, &Description)>, new: &Description) -> Self {
        let nothing = Capabilities::default();
        let before = |name: &str| old.and_then(|(_, old)| old.tool(name));
        let wishes_before = old.map_or(&nothing, |(_, old)| &old.wishes);
        let wider = new.tools.iter().any(|tool| {
            let granted = before(&tool.info.name).map_or(&nothing, |tool| &tool.wishes);
            Diff::between(granted, &tool.wishes).is_wider()
        });
        let mut tools = ToolsDifference::default();
        for tool in &new.tools {
            match before(&tool.info.name) {
                None => tools.added.push(tool.info.name.clone()),
                Some(old) => tools.changed.extend(change(old, tool)),
            }
        }
        if let Some((_, old)) = old {
            let gone = old
                .tools
                .iter()
                .filter(|tool| new.tool(&tool.info.name).is_none());
            tools
                .removed
                .extend(gone.map(|tool| tool.info.name.clone()));
        }
        Self {
            against: old.map(|(digest, _)| digest),
            wishes: Diff::between(wishes_before, &new.wishes),
            tools,
            wider,
        }
    }
}

fn change(old: &ToolDescription, new: &ToolDescription) -> Option<ToolChange> {
    let change = ToolChange {
        name: new.info.name.clone(),
        input_schema: old.info.input_schema != new.info.input_schema,
        output_schema: old.info.output_schema != new.info.output_schema,
        description: old.info.description != new.info.description,
        annotations: old.info.annotations != new.info.annotations,
        wishes: old.wishes != new.wishes,
    };
    let ToolChange {
        name: _,
        input_schema,
        output_schema,
        description,
        annotations,
        wishes,
    } = change;
    (input_schema || output_schema || description || annotations || wishes).then_some(change)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn version(tools: Value) -> Description {
        let mut wishes = Capabilities::default();
        let tools: Vec<ToolDescription> = tools
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, tool)| {
                let tool = json!({
                    "name": name, "description": tool["description"].as_str().unwrap_or("d"),
                    "input_schema": {"type": "object"}, "wishes": tool["wishes"],
                });
                serde_json::from_value(tool).unwrap()
            })
            .collect();
        tools.iter().for_each(|tool| wishes.union(&tool.wishes));
        let kind = bulkhead_sandbox::Kind::Native;
        Description {
            kind,
            pure: false,
            imports: Vec::new(),
            wishes,
            tools,
            skipped: Vec::new(),
        }
    }

    fn between(old: Value, new: Value) -> Difference {
        Difference::between(Some((Digest::of(b"old"), &version(old))), &version(new))
    }

    #[test]
    fn a_tool_that_wishes_for_more_is_wider() {
        let diff = between(
            json!({"a": {"wishes": {}}}),
            json!({"a": {"wishes": {"state": true}}}),
        );
        assert!(diff.wider);
        assert_eq!(diff.wishes.added[0].capability, "state");
        assert!(diff.tools.changed[0].wishes);
    }

    #[test]
    fn a_wish_that_moves_to_another_tool_is_wider() {
        let old = json!({"a": {"wishes": {"state": true}}, "b": {"wishes": {}}});
        let new = json!({"a": {"wishes": {}}, "b": {"wishes": {"state": true}}});
        let diff = between(old, new);
        assert!(diff.wishes.added.is_empty());
        assert!(diff.wider);
    }

    #[test]
    fn a_new_tool_without_wishes_and_a_new_text_are_not_wider() {
        let old = json!({"a": {"wishes": {"state": true}}, "gone": {"wishes": {}}});
        let new = json!({"a": {"wishes": {}, "description": "e"}, "b": {"wishes": {}}});
        let diff = between(old, new);
        assert!(!diff.wider);
        assert_eq!(
            (&diff.tools.added[..], &diff.tools.removed[..]),
            (&["b".to_owned()][..], &["gone".to_owned()][..])
        );
        let change = &diff.tools.changed[0];
        assert!(change.description && change.wishes && !change.input_schema);
    }

    #[test]
    fn against_nothing_every_wish_is_wider() {
        let new = version(json!({"a": {"wishes": {"state": true}}}));
        assert!(Difference::between(None, &new).wider);
        assert!(!Difference::between(None, &version(json!({"a": {"wishes": {}}}))).wider);
    }
}
