//! Ids of the contract: a prefix and a random UUID.

use bulkhead_domain::id::{Id, Kind, canonical};
use serde_json::{Value, json};

use super::{Refusal, fault::Fault};

/// Who asks, where requests name nobody.
pub(crate) const DEFAULT_USER: &str = "user-00000000-0000-4000-8000-000000000000";
/// To whom everything belongs.
pub(crate) const DEFAULT_ORGANIZATION: &str = "org-00000000-0000-4000-8000-000000000000";

/// Refuses what is no id with this prefix, at `name` of the path.
pub(crate) fn check(prefix: &str, name: &str, id: &str) -> Result<(), Refusal> {
    if is_id(prefix, id) {
        return Ok(());
    }
    let fault = fault(prefix, vec![json!("path"), json!(name)], id);
    let example = format!("{prefix}-123e4567-e89b-42d3-8456-426614174000");
    Err(Refusal::invalid(&[fault], &[&example]))
}

/// An id of the path as a value, or the refusal of a text that is none.
pub(crate) fn parse<K: Kind>(name: &str, id: &str) -> Result<Id<K>, Refusal> {
    check(K::PREFIX, name, id)?;
    // What passes the check is an id; should that ever change, nothing has it.
    id.parse()
        .map_err(|_| Refusal::not_found(format!("{id} not found")))
}

/// Whether a text is an id with this prefix.
pub(super) fn is_id(prefix: &str, id: &str) -> bool {
    let uuid = id
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('-'));
    uuid.is_some_and(|uuid| canonical(uuid).is_some())
}

/// What is wrong with a text that is no id with this prefix.
pub(super) fn fault(prefix: &str, place: Vec<Value>, id: &str) -> Fault {
    let pattern = format!(
        "^{prefix}-[0-9a-f]{{8}}-[0-9a-f]{{4}}-4[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}-[0-9a-f]{{12}}$"
    );
    Fault::no_match(place, &pattern, json!(id))
}
