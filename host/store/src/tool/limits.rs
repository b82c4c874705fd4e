//! What is stored of a tool at most.

use serde_json::Value;

use super::ToolRecord;
use crate::{Result, StoreError, check};

/// Bytes of source. Whoever runs source may take less; this bounds what a list reads.
pub const SOURCE_MAX: usize = 5_000_000;
/// Bytes of each JSON document of a tool. A model reads the schema with every request: what is
/// larger by far than its context is a mistake.
pub const DOCUMENT_MAX: usize = 1 << 20;
/// Bytes of a description, which a model reads as well.
pub const DESCRIPTION_MAX: usize = 256 << 10;
/// Tags of one tool. A person reads them.
pub const TAGS_MAX: usize = 256;
/// Characters of a result that a model sees, where nobody says.
pub const RETURN_CHARS_DEFAULT: i64 = 50_000;
/// Characters of a result that a model sees at most, as the API has it.
pub const RETURN_CHARS_MAX: i64 = 1_000_000;
/// Bytes of a name: that of a tool, or those of a component and its tool with what joins them.
/// Every index of Postgres takes it.
pub const NAME_MAX: usize = 2 * check::NAME_MAX + 16;
/// Tools of one component. An installation takes no more than 256 either.
pub const COMPONENT_TOOLS_MAX: usize = 1000;

/// A tool's documents as text, each within its limits.
pub(super) struct Documents {
    pub(super) json_schema: Option<String>,
    pub(super) args_json_schema: Option<String>,
    pub(super) tags: String,
    pub(super) pip_requirements: Option<String>,
    pub(super) npm_requirements: Option<String>,
    pub(super) metadata: Option<String>,
    /// Bytes of all that a client wrote, these documents and plain text.
    pub(super) size: usize,
}

/// The documents of a tool; refuses one that does not fit or that one of the databases could not
/// store.
pub(super) fn documents(tool: &ToolRecord) -> Result<Documents> {
    name("the tool's name", &tool.name)?;
    let source = tool.source_code.as_deref().unwrap_or_default();
    text(
        "the tool's source code",
        source,
        SOURCE_MAX,
        "is larger than 5 MB",
    )?;
    let description = tool.description.as_deref().unwrap_or_default();
    let reason = "is larger than 256 KiB";
    text(
        "the tool's description",
        description,
        DESCRIPTION_MAX,
        reason,
    )?;
    for (what, value) in [
        ("the tool's source type", &tool.source_type),
        ("the tool's creator", &tool.created_by_id),
        ("the tool's last editor", &tool.last_updated_by_id),
        ("the tool's project", &tool.project_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    if !(1..=RETURN_CHARS_MAX).contains(&tool.return_char_limit) {
        return Err(StoreError::Invalid {
            what: "the tool's return_char_limit",
            reason: "is not between 1 and 1000000",
        });
    }
    let document = |what, value: &Option<Value>| {
        let reason = "is larger than 1 MiB";
        let text = value.as_ref();
        text.map(|value| check::json(what, value, DOCUMENT_MAX, reason))
            .transpose()
    };
    let mut documents = Documents {
        json_schema: document("the tool's JSON schema", &tool.json_schema)?,
        args_json_schema: document("the schema of the tool's arguments", &tool.args_json_schema)?,
        tags: tags(&tool.tags)?,
        pip_requirements: document(
            "the list of the tool's pip requirements",
            &tool.pip_requirements,
        )?,
        npm_requirements: document(
            "the list of the tool's npm requirements",
            &tool.npm_requirements,
        )?,
        metadata: document("the tool's metadata", &tool.metadata)?,
        size: 0,
    };
    let optional = [
        &documents.json_schema,
        &documents.args_json_schema,
        &documents.pip_requirements,
        &documents.npm_requirements,
        &documents.metadata,
    ];
    let optional = optional.into_iter().flatten().map(String::len);
    documents.size =
        source.len() + description.len() + documents.tags.len() + optional.sum::<usize>();
    Ok(documents)
}

/// A name to store or to look for.
pub(super) fn name(what: &'static str, name: &str) -> Result<()> {
    if name.is_empty() {
        return check::name(what, name);
    }
    check::text(what, name, NAME_MAX)
}

fn tags(tags: &[String]) -> Result<String> {
    let what = "the tool's tags";
    if tags.len() > TAGS_MAX {
        let reason = "are more than 256";
        return Err(StoreError::Invalid { what, reason });
    }
    if tags.iter().any(|tag| tag.len() > check::NAME_MAX) {
        let reason = "have one that is longer than 512 bytes";
        return Err(StoreError::Invalid { what, reason });
    }
    check::document(what, &tags)
}

fn text(what: &'static str, value: &str, max: usize, too_large: &'static str) -> Result<()> {
    if value.len() > max {
        let reason = too_large;
        return Err(StoreError::Invalid { what, reason });
    }
    check::text(what, value, max)
}
