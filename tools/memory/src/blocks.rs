//! The agent's blocks: found by label, and written only over the version that was read.

use bulkhead_sdk::{
    Error,
    memory::{self, Block},
};

/// How often a change is made anew after someone else was faster. Other writers are tools and
/// people; nobody writes one block this often while a call runs.
const ATTEMPTS: u32 = 8;
/// What a model is told that edits a block that it may only read.
const READ_ONLY: &str = "Error This block is read-only and cannot be edited.";

/// Replaces a block's text by what `change` makes of it, and gives the new text.
pub(crate) fn edit(
    label: &str,
    mut change: impl FnMut(&str) -> Result<String, Error>,
) -> Result<String, Error> {
    for _ in 0..ATTEMPTS {
        let block = writable(label)?;
        let value = change(&block.value)?;
        if value == block.value {
            return Ok(value);
        }
        match memory::put(label, &value, block.version) {
            Ok(block) => return Ok(block.value),
            Err(memory::Error::Conflict(_)) => {}
            Err(error) => return Err(explained(error, label, &value)),
        }
    }
    Err(Error::Failed(format!(
        "Memory block '{label}' is being changed by others all the time; nothing was written. Try again later."
    )))
}

/// The block, if there is one of this label and tools may change it.
pub(crate) fn writable(label: &str) -> Result<Block, Error> {
    match memory::get(label) {
        Ok(block) if block.read_only => Err(Error::failed(READ_ONLY)),
        Ok(block) => Ok(block),
        Err(error) => Err(explained(error, label, "")),
    }
}

/// Makes a block.
pub(crate) fn create(label: &str, value: &str, description: Option<&str>) -> Result<(), Error> {
    match memory::create(label, value, description) {
        Ok(_) => Ok(()),
        Err(memory::Error::Conflict(_)) => Err(exists(label)),
        Err(error) => Err(explained(error, label, value)),
    }
}

/// Deletes a block.
pub(crate) fn delete(label: &str) -> Result<(), Error> {
    writable(label)?;
    memory::delete(label).map_err(|error| explained(error, label, ""))
}

/// Gives a block another label. Its text and description go with it.
pub(crate) fn rename(from: &str, to: &str) -> Result<(), Error> {
    let block = writable(from)?;
    create(to, &block.value, block.description.as_deref())?;
    let deleted = delete(from);
    if deleted.is_err() {
        // Two blocks of the same text would be worse than the error, which says enough.
        let _ = memory::delete(to);
    }
    deleted
}

/// What a model is told that names a block which is not there.
pub(crate) fn unknown(label: &str) -> Error {
    let labels = match memory::blocks() {
        Ok(blocks) => blocks.into_iter().map(|block| block.label),
        Err(error) => return error.into(),
    };
    let labels = labels.collect::<Vec<_>>().join(", ");
    Error::Failed(format!(
        "'Block field {label} does not exist (available sections = {labels})'"
    ))
}

/// What a model is told that makes a block which is there.
pub(crate) fn exists(label: &str) -> Error {
    Error::Failed(format!(
        "Error: Memory block '{label}' already exists. Choose another label, or edit that block."
    ))
}

/// What a model is told that edits a block which it may only read.
pub(crate) fn read_only() -> Error {
    Error::failed(READ_ONLY)
}

/// An error of the host about writing `value` to the block `label`, in words for a model.
fn explained(error: memory::Error, label: &str, value: &str) -> Error {
    match error {
        memory::Error::NotFound => unknown(label),
        memory::Error::ReadOnly => read_only(),
        memory::Error::TooLong(limit) => Error::Failed(format!(
            "Memory block '{label}' would have {} characters, more than its limit of {limit}; nothing was written. \
             Shorten the text, or remove what is no longer needed first.",
            value.chars().count()
        )),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use bulkhead_sdk::memory::{create, get, put};

    use super::*;

    #[test]
    fn a_change_that_lost_a_race_is_made_anew_on_the_newer_text() {
        create("notes", "a", None).expect("the label is new");
        let mut races = 1;
        let edited = edit("notes", |value| {
            if races > 0 {
                races -= 1;
                let version = get("notes").expect("it is there").version;
                put("notes", "b", version).expect("nobody is faster");
            }
            Ok(format!("{value}!"))
        });
        assert_eq!(edited, Ok("b!".to_owned()));
    }

    #[test]
    fn who_is_always_late_gives_up_and_has_written_nothing() {
        create("notes", "a", None).expect("the label is new");
        let mut calls = 0;
        let edited = edit("notes", |_| {
            calls += 1;
            let version = get("notes").expect("it is there").version;
            put("notes", &format!("other {calls}"), version).expect("nobody is faster");
            Ok("mine".to_owned())
        });
        assert!(matches!(edited, Err(Error::Failed(_))), "{edited:?}");
        let value = get("notes").expect("it is there").value;
        assert_eq!((calls, value.as_str()), (ATTEMPTS, "other 8"));
    }

    #[test]
    fn a_change_that_changes_nothing_is_not_written() {
        let version = create("notes", "a", None)
            .expect("the label is new")
            .version;
        assert_eq!(
            edit("notes", |value| Ok(value.to_owned())),
            Ok("a".to_owned())
        );
        assert_eq!(get("notes").expect("it is there").version, version);
    }
}
