//! Paths of blocks: the block `notes` is `/memories/notes`.

use bulkhead_sdk::Error;

/// The folder that all blocks are in.
const FOLDER: &str = "memories";

/// The label that a path names. Models leave the folder or the first slash out at times.
pub(crate) fn label(path: &str) -> Result<&str, Error> {
    let trimmed = path.trim().trim_matches('/');
    let label = match trimmed.strip_prefix(FOLDER) {
        Some("") => "",
        Some(rest) => rest
            .strip_prefix('/')
            .map_or(trimmed, |rest| rest.trim_matches('/')),
        None => trimmed,
    };
    if label.is_empty() {
        return Err(Error::Failed(format!(
            "Error: The path '{path}' names no memory block. Use /{FOLDER}/<label>."
        )));
    }
    Ok(label)
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_path_names_a_label_with_or_without_its_folder() {
        for path in [
            "/memories/notes",
            "memories/notes",
            "/notes",
            "notes",
            " /memories/notes/ ",
        ] {
            assert_eq!(label(path), Ok("notes"), "{path}");
        }
        assert_eq!(label("/memories/work/todo"), Ok("work/todo"));
        assert_eq!(label("memories_of_rome"), Ok("memories_of_rome"));
    }

    #[test]
    fn a_path_without_a_label_is_refused() {
        for path in ["", "/", "/memories", "/memories/", "  "] {
            assert!(label(path).is_err(), "{path:?}");
        }
    }
}
