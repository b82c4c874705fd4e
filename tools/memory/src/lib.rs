//! The built-in tools by which an agent edits its memory: the labelled blocks that stand in its
//! system prompt.
//!
//! Every tool gives the block's new text, or says in words that clients know why it was not
//! changed. Writes go over the version that was read, so that nobody's change is lost.
//!
//! - [`blocks`]: reading and writing. - [`text`]: the changes themselves.
//! - [`command`], [`path`]: the tool `memory`. - [`patch`]: the tool `memory_apply_patch`.
//! - [`line_numbers`]: what a model must not copy into a block. - [`nothing`]: a result of `None`.

mod blocks;
mod command;
mod line_numbers;
mod nothing;
mod patch;
mod path;
mod text;

use bulkhead_sdk::{Error, tool, tools};

use self::{command::Arguments, nothing::Nothing};

/// The block in which agents that speak keep what they know of their user.
const USER_BLOCK: &str = "human";

/// Append a line to the end of a memory block.
///
/// Use it to remember something new without touching what the block says already.
#[tool(title = "Append to memory", wishes(memory("*", write)))]
fn core_memory_append(
    /// The label of the memory block to append to, such as human or persona.
    label: String,
    /// The text to append, as a line of its own.
    content: String,
) -> Result<String, Error> {
    blocks::edit(&label, |value| Ok(text::appended(value, &content)))
}

/// Replace text in a memory block.
///
/// The old text must be in the block exactly as given; all its occurrences are replaced. To delete
/// text, replace it with an empty string.
#[tool(title = "Replace in memory", wishes(memory("*", write)))]
fn core_memory_replace(
    /// The label of the memory block to edit, such as human or persona.
    label: String,
    /// The text to replace, exactly as it is in the block.
    old_content: String,
    /// The text to put in its place; empty to delete the old one.
    new_content: String,
) -> Result<String, Error> {
    blocks::edit(&label, |value| {
        text::replaced_everywhere(&label, value, &old_content, &new_content)
    })
}

/// Insert text into a memory block at a line.
///
/// The result is the block's new text.
#[tool(title = "Insert into memory", wishes(memory("*", write)))]
fn memory_insert(
    /// The label of the memory block to edit.
    label: String,
    /// The text to insert, without line numbers.
    new_string: String,
    /// The line after which the text is inserted: 0 for the beginning of the block, -1 for its end. Defaults to -1.
    insert_line: Option<i64>,
) -> Result<String, Error> {
    command::insert(&label, "new_string", &new_string, insert_line)
}

/// Replace a piece of text in a memory block with another one.
///
/// The old text must be in the block exactly once, white space included: give enough of what
/// stands around it to make it unique. The result is the block's new text.
#[tool(title = "Edit memory", wishes(memory("*", write)))]
fn memory_replace(
    /// The label of the memory block to edit.
    label: String,
    /// The text to replace, exactly as it is in the block and without line numbers.
    old_string: String,
    /// The text to put in its place; empty to delete the old one.
    new_string: String,
) -> Result<String, Error> {
    command::replace_once(&label, &old_string, &new_string)
}

/// Rewrite a memory block as a whole.
///
/// For large reorganisations: to condense, to bring together, to take out what is outdated. Use
/// memory_replace or memory_insert for small edits. What the new text does not say is forgotten.
#[tool(title = "Rewrite memory", destructive, wishes(memory("*", write)))]
fn memory_rethink(
    /// The label of the memory block to rewrite.
    label: String,
    /// The new text of the block, with everything that is still worth knowing and without line numbers.
    new_memory: String,
) -> Result<String, Error> {
    blocks::edit(&label, |_| {
        line_numbers::refuse("new_memory", &new_memory)?;
        Ok(new_memory.clone())
    })
}

/// Say that all edits of the memory are done.
///
/// Call it once, after the last edit.
#[tool(title = "Finish edits")]
fn memory_finish_edits() -> Nothing {
    Nothing
}

/// Create, edit, rename or delete memory blocks.
///
/// The commands and what they need:
/// - create: path, file_text, description
/// - str_replace: path, old_string, new_string
/// - insert: path, insert_text, insert_line
/// - delete: path
/// - rename: old_path, new_path
///
/// The block with the label notes has the path /memories/notes.
#[tool(title = "Manage memory", destructive, wishes(memory("*", write)))]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters of the tool, as agents know them"
)]
fn memory(
    /// What to do: create, str_replace, insert, delete or rename.
    command: String,
    /// The path of the memory block: /memories/<label>. For all commands but rename.
    path: Option<String>,
    /// The text of the new block. For create.
    file_text: Option<String>,
    /// What the new block is for, in a sentence or two. For create.
    description: Option<String>,
    /// The text to replace, which is in the block exactly once. For str_replace.
    old_string: Option<String>,
    /// The text to put in its place; empty to delete the old one. For str_replace.
    new_string: Option<String>,
    /// The line after which the text is inserted: 0 for the beginning of the block, -1 for its end. For insert; defaults to -1.
    insert_line: Option<i64>,
    /// The text to insert. For insert.
    insert_text: Option<String>,
    /// The present path of the block. For rename.
    old_path: Option<String>,
    /// The path that the block is to have. For rename.
    new_path: Option<String>,
) -> Result<String, Error> {
    let arguments = Arguments {
        path,
        file_text,
        description,
        old_string,
        new_string,
        insert_line,
        insert_text,
        old_path,
        new_path,
    };
    command::run(&command, &arguments)
}

/// Apply a patch to memory blocks.
///
/// The patch is a unified diff of the block named by label: hunks that begin with @@, in which
/// lines begin with a space (context), - (removed) or + (added). Line numbers may be left out where
/// the context is unique.
///
/// To change several blocks at once, put a header line before the part of each block:
/// *** Add Block: <label> (followed by its text, each line beginning with +),
/// *** Update Block: <label> (followed by hunks), *** Delete Block: <label>, and, after an update's
/// header, *** Move to: <label> to rename the block.
///
/// Either all of the patch is applied or nothing.
#[tool(title = "Patch memory", destructive, wishes(memory("*", write)))]
fn memory_apply_patch(
    /// The label of the memory block that hunks without a header are for.
    label: String,
    /// The patch.
    patch: String,
) -> Result<String, Error> {
    patch::apply(&label, &patch)
}

/// Rewrite what is known about the user.
///
/// The new text replaces the block about the user: integrate what was learnt, resolve
/// contradictions, keep what is still true.
#[tool(
    title = "Rewrite what is known of the user",
    destructive,
    wishes(memory("human", write))
)]
fn rethink_user_memory(
    /// The new text of the block about the user, with everything that is still worth knowing.
    new_memory: String,
) -> Result<Nothing, Error> {
    blocks::edit(USER_BLOCK, |_| {
        line_numbers::refuse("new_memory", &new_memory)?;
        Ok(new_memory.clone())
    })?;
    Ok(Nothing)
}

/// Say that what is known about the user is up to date.
///
/// Call it once, after the last rewriting.
#[tool(title = "Finish rethinking")]
fn finish_rethinking_memory() -> Nothing {
    Nothing
}

tools![
    core_memory_append,
    core_memory_replace,
    memory_insert,
    memory_replace,
    memory_rethink,
    memory_finish_edits,
    memory,
    memory_apply_patch,
    rethink_user_memory,
    finish_rethinking_memory,
];
