//! Ids of the contract: a prefix and a random UUID.

use serde_json::json;
use uuid::Uuid;

use super::{Refusal, repr};

/// Who asks, where requests name nobody.
pub(crate) const DEFAULT_USER: &str = "user-00000000-0000-4000-8000-000000000000";

/// Refuses what is no id with this prefix, at `name` of the path.
pub(crate) fn check(prefix: &str, name: &str, id: &str) -> Result<(), Refusal> {
    let uuid = id
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('-'));
    let is_uuid = uuid.is_some_and(|uuid| uuid.len() == 36 && Uuid::try_parse(uuid).is_ok());
    if is_uuid {
        return Ok(());
    }
    let pattern = format!(
        "^{prefix}-[0-9a-f]{{8}}-[0-9a-f]{{4}}-4[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}-[0-9a-f]{{12}}$"
    );
    let fault = format!(
        "{{'type': 'string_pattern_mismatch', 'loc': ('path', '{name}'), 'msg': {}, 'input': {}, 'ctx': {}}}",
        repr::repr(&json!(format!("String should match pattern '{pattern}'"))),
        repr::repr(&json!(id)),
        repr::repr(&json!({ "pattern": pattern })),
    );
    let example = format!("{prefix}-123e4567-e89b-42d3-8456-426614174000");
    Err(Refusal::invalid(&[fault], &[&example]))
}
