//! The tool `memory_apply_patch`: one block or several, all of the patch or nothing.
//!
//! - [`parse`]: from text to changes. - [`hunk`]: one hunk, found by its lines.
//!
//! A patch is tried on the blocks as they are before anything is written, so that a patch with a
//! fault changes nothing.

mod hunk;
mod parse;

use std::collections::BTreeMap;

use bulkhead_sdk::{Error, memory};

use self::{hunk::Hunk, parse::Change};
use crate::blocks;

/// Applies a patch; gives the new text of the block that it changes, or a sentence about several.
pub(crate) fn apply(label: &str, patch: &str) -> Result<String, Error> {
    let changes = parse::parse(label, patch)?;
    rehearse(&changes)?;
    if let [Change::Update(label, hunks)] = &changes[..] {
        return update(label, hunks);
    }
    let mut done = Vec::new();
    for change in &changes {
        match perform(change) {
            Ok(what) => done.push(what),
            // What was tried a moment ago fails only where someone else changed the blocks since.
            Err(error) if done.is_empty() => return Err(error),
            Err(error) => {
                let done = done.join(", ");
                return Err(Error::Failed(format!(
                    "{error}\nThe rest of the patch was not applied; done before: {done}."
                )));
            }
        }
    }
    Ok(format!(
        "Successfully applied the patch: {}. Your system prompt has been recompiled with the changed memory blocks \
         and is now active in your context.",
        done.join(", ")
    ))
}

fn perform(change: &Change<'_>) -> Result<String, Error> {
    match change {
        Change::Add(label, value) => {
            blocks::create(label, value, None).map(|()| format!("added memory block '{label}'"))
        }
        Change::Update(label, hunks) => {
            update(label, hunks).map(|_| format!("updated memory block '{label}'"))
        }
        Change::Delete(label) => {
            blocks::delete(label).map(|()| format!("deleted memory block '{label}'"))
        }
        Change::Rename(from, to) => {
            blocks::rename(from, to).map(|()| format!("renamed memory block '{from}' to '{to}'"))
        }
    }
}

fn update(label: &str, hunks: &[Hunk<'_>]) -> Result<String, Error> {
    blocks::edit(label, |value| patched(label, value, hunks))
}

/// The text of the block `label` with the hunks applied.
fn patched(label: &str, value: &str, hunks: &[Hunk<'_>]) -> Result<String, Error> {
    // An empty text has no line, not one that is empty.
    let lines = value.split('\n').map(str::to_owned);
    let mut lines: Vec<String> = lines.filter(|_| !value.is_empty()).collect();
    let mut shift = 0;
    for (number, hunk) in (1..).zip(hunks) {
        hunk.apply(&mut lines, &mut shift)
            .map_err(|trouble| hunk.error(number, label, &trouble))?;
    }
    Ok(lines.join("\n"))
}

/// Does everything to a copy of the blocks.
fn rehearse(changes: &[Change<'_>]) -> Result<(), Error> {
    let all = memory::blocks()?.into_iter();
    let mut copies: BTreeMap<_, _> = all.map(|block| (block.label.clone(), block)).collect();
    for change in changes {
        match change {
            Change::Add(label, value) => {
                // Its limit is the host's to know.
                let block = memory::Block {
                    label: (*label).to_owned(),
                    value: value.clone(),
                    description: None,
                    limit: u32::MAX,
                    read_only: false,
                    version: 0,
                };
                expect_free(&copies, label)?;
                copies.insert(block.label.clone(), block);
            }
            Change::Update(label, hunks) => {
                let block = writable(&mut copies, label)?;
                block.value = patched(label, &block.value, hunks)?;
            }
            Change::Delete(label) => {
                writable(&mut copies, label)?;
                copies.remove(*label);
            }
            Change::Rename(from, to) => {
                writable(&mut copies, from)?;
                expect_free(&copies, to)?;
                if let Some(block) = copies.remove(*from) {
                    copies.insert((*to).to_owned(), block);
                }
            }
        }
    }
    Ok(())
}

fn writable<'a>(
    copies: &'a mut BTreeMap<String, memory::Block>,
    label: &str,
) -> Result<&'a mut memory::Block, Error> {
    match copies.get_mut(label) {
        None => Err(blocks::unknown(label)),
        Some(block) if block.read_only => Err(blocks::read_only()),
        Some(block) => Ok(block),
    }
}

fn expect_free(copies: &BTreeMap<String, memory::Block>, label: &str) -> Result<(), Error> {
    if copies.contains_key(label) {
        return Err(blocks::exists(label));
    }
    Ok(())
}
