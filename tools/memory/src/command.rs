//! The tool `memory`: one command on one block.

use bulkhead_sdk::Error;

use crate::{blocks, line_numbers, path, text};

/// The commands, as an error names them.
const KNOWN: &str = "create, str_replace, insert, delete, rename";

/// The parameters of the tool beside its command; each command needs some of them.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) path: Option<String>,
    pub(crate) file_text: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) old_string: Option<String>,
    pub(crate) new_string: Option<String>,
    pub(crate) insert_line: Option<i64>,
    pub(crate) insert_text: Option<String>,
    pub(crate) old_path: Option<String>,
    pub(crate) new_path: Option<String>,
}

/// Runs a command; gives the block's new text, or a sentence about what was done.
pub(crate) fn run(command: &str, arguments: &Arguments) -> Result<String, Error> {
    match command {
        "create" => arguments.create(),
        "str_replace" => arguments.replace(),
        "insert" => arguments.insert(),
        "delete" => arguments.delete(),
        "rename" => arguments.rename(),
        _ => Err(Error::Failed(format!(
            "Error: Unknown command '{command}'. Supported commands: {KNOWN}"
        ))),
    }
}

impl Arguments {
    fn create(&self) -> Result<String, Error> {
        let label = path::label(needed(&self.path, "path", "create")?)?;
        let value = self.file_text.as_deref().unwrap_or_default();
        line_numbers::refuse("file_text", value)?;
        blocks::create(label, value, self.description.as_deref())?;
        Ok(format!(
            "Successfully created memory block '{label}'. Your system prompt has been recompiled with the new memory \
             block and is now active in your context."
        ))
    }

    fn replace(&self) -> Result<String, Error> {
        let command = "str_replace";
        let label = path::label(needed(&self.path, "path", command)?)?;
        let old = needed(&self.old_string, "old_string", command)?;
        let new = needed(&self.new_string, "new_string", command)?;
        replace_once(label, old, new)
    }

    fn insert(&self) -> Result<String, Error> {
        let label = path::label(needed(&self.path, "path", "insert")?)?;
        let new = needed(&self.insert_text, "insert_text", "insert")?;
        insert(label, "insert_text", new, self.insert_line)
    }

    fn delete(&self) -> Result<String, Error> {
        let label = path::label(needed(&self.path, "path", "delete")?)?;
        blocks::delete(label)?;
        Ok(format!(
            "Successfully deleted memory block '{label}'. Your system prompt has been recompiled without this memory \
             block and is now active in your context."
        ))
    }

    fn rename(&self) -> Result<String, Error> {
        let from = path::label(needed(&self.old_path, "old_path", "rename")?)?;
        let to = path::label(needed(&self.new_path, "new_path", "rename")?)?;
        blocks::rename(from, to)?;
        Ok(format!(
            "Successfully renamed memory block '{from}' to '{to}'. Your system prompt has been recompiled with the \
             renamed memory block and is now active in your context."
        ))
    }
}

/// Replaces the only occurrence of a text in a block; gives the block's new text.
pub(crate) fn replace_once(label: &str, old: &str, new: &str) -> Result<String, Error> {
    blocks::edit(label, |value| {
        line_numbers::refuse("old_string", old)?;
        line_numbers::refuse("new_string", new)?;
        text::replaced_once(label, value, old, new)
    })
}

/// Inserts a text after a line of a block, at its end without one; gives the block's new text.
/// `parameter` is where the text came from.
pub(crate) fn insert(
    label: &str,
    parameter: &str,
    new: &str,
    line: Option<i64>,
) -> Result<String, Error> {
    blocks::edit(label, |value| {
        line_numbers::refuse(parameter, new)?;
        text::inserted(value, new, line.unwrap_or(text::END))
    })
}

/// A parameter that the command can't do without.
fn needed<'a>(value: &'a Option<String>, name: &str, command: &str) -> Result<&'a str, Error> {
    value
        .as_deref()
        .ok_or_else(|| Error::Failed(format!("Error: {name} is required for {command} command")))
}
