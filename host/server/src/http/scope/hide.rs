//! Ids of somebody else's things in a request, replaced by ones that nobody has.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bulkhead_domain::{id::canonical, platform::UserId};
use bulkhead_store::{Store, owner::Owner};
use bytes::Bytes;
use http::{Uri, header};
use http_body_util::{BodyExt as _, Limited};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use uuid::Uuid;

use crate::http::{
    error::{self, Rejection},
    json,
};

/// What ids of things that are somebody's begin with.
const PREFIXES: [&str; 14] = [
    "agent",
    "block",
    "tool",
    "archive",
    "identity",
    "group",
    "conv",
    "run",
    "step",
    "message",
    "passage",
    "source",
    "file",
    "file_agent",
];
/// Ids that are looked up at once.
const IDS_AT_ONCE: usize = 500;
/// Ids of one request that are looked up. No honest request has as many.
const IDS_MAX: usize = 10_000;
/// Bytes of a refusal in which ids are put back.
const REFUSAL_MAX: usize = 1 << 20;

/// A request in which nobody else's things are named.
pub(super) struct Hidden {
    pub(super) request: Request,
    /// Whether its path is another one.
    pub(super) other_path: bool,
    /// What stands in the place of what.
    pub(super) replaced: BTreeMap<String, String>,
}

/// The request as this user may make it.
pub(super) async fn hide(
    store: &Store,
    user: UserId,
    request: Request,
) -> Result<Hidden, Rejection> {
    let (mut parts, body) = request.into_parts();
    let mut ids = BTreeSet::new();
    let target = parts.uri.path_and_query();
    let target = plain_target(target.map_or("", |target| target.as_str()));
    for word in target.split(['/', '?', '&', '=', ',']) {
        collect(word, &mut ids);
    }
    let is_json = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            value
                .trim_start()
                .to_ascii_lowercase()
                .starts_with("application/json")
        });
    let (bytes, mut value) = if is_json {
        let request = Request::from_parts(parts.clone(), body);
        let bytes = json::read(request).await?;
        let value = serde_json::from_slice::<Value>(&bytes).ok();
        (Some(bytes), value)
    } else {
        let request = Request::from_parts(parts, body);
        return plain(store, user, request, &target, ids).await;
    };
    if let Some(value) = &mut value {
        visit(value, false, &mut |text| {
            collect(text, &mut ids);
        });
    }
    let replaced = foreign(store, user, ids).await?;
    let body = match (value, bytes) {
        (Some(mut value), _) if !replaced.is_empty() => {
            visit(&mut value, false, &mut |text| {
                if let Some(other) = replaced.get(text.as_str()) {
                    text.clone_from(other);
                }
            });
            Bytes::from(value.to_string())
        }
        (_, bytes) => bytes.unwrap_or_default(),
    };
    let other_path = replace_target(&mut parts.uri, &target, &replaced);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, body.len().into());
    Ok(Hidden {
        request: Request::from_parts(parts, Body::from(body)),
        other_path,
        replaced,
    })
}

/// A request without a JSON body.
async fn plain(
    store: &Store,
    user: UserId,
    request: Request,
    target: &str,
    ids: BTreeSet<String>,
) -> Result<Hidden, Rejection> {
    let replaced = foreign(store, user, ids).await?;
    let mut request = request;
    let other_path = replace_target(request.uri_mut(), target, &replaced);
    Ok(Hidden {
        request,
        other_path,
        replaced,
    })
}

/// Puts the other ids into the target of a request; whether it is another one then. `target` is its
/// plain form.
fn replace_target(uri: &mut Uri, target: &str, replaced: &BTreeMap<String, String>) -> bool {
    let mut other = target.to_owned();
    for (id, fresh) in replaced {
        other = other.replace(id, fresh);
    }
    let sent = uri.path_and_query().map(|sent| sent.as_str().to_owned());
    match other.parse::<Uri>() {
        Ok(changed) if sent.as_deref() != Some(&other) => {
            *uri = changed;
            true
        }
        _ => false,
    }
}

/// A path and a query in which ids are written in one way: handlers decode `%2D`, and so must who
/// looks for ids before them. Other words stay as they are: `%69mport` is no `import` to the router,
/// and must not become one after it was decided who may call what.
fn plain_target(target: &str) -> String {
    let mut plain = String::with_capacity(target.len());
    let ends = ['/', '?', '&', '='];
    for part in target.split_inclusive(ends) {
        let (word, end) = match part.strip_suffix(ends) {
            Some(word) => (word, &part[word.len()..]),
            None => (part, ""),
        };
        let decoded = percent_decode_str(word).decode_utf8_lossy();
        let is_word =
            |character: char| character.is_ascii_alphanumeric() || "-_,".contains(character);
        let names_ids = decoded.split(',').any(is_id) && decoded.chars().all(is_word);
        plain.push_str(if names_ids { &decoded } else { word });
        plain.push_str(end);
    }
    plain
}

/// The ids of things that are not this user's, each with one that nobody has.
async fn foreign(
    store: &Store,
    user: UserId,
    ids: BTreeSet<String>,
) -> Result<BTreeMap<String, String>, Rejection> {
    if ids.len() > IDS_MAX {
        let text = format!("the request names more than {IDS_MAX} ids");
        return Err(Rejection::with(&error::INVALID_BODY, text));
    }
    let mut replaced = BTreeMap::new();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for ids in ids.chunks(IDS_AT_ONCE) {
        for (id, owner) in store.owners(ids).await? {
            let prefix = id.split('-').next().unwrap_or_default();
            if owner != Owner::User(user) && owner != Owner::Everybody {
                let fresh = format!("{prefix}-{}", Uuid::new_v4());
                replaced.insert(id, fresh);
            }
        }
    }
    Ok(replaced)
}

fn collect(text: &str, ids: &mut BTreeSet<String>) {
    if is_id(text) {
        ids.insert(text.to_owned());
    }
}

fn is_id(text: &str) -> bool {
    let Some((prefix, uuid)) = text.split_once('-') else {
        return false;
    };
    PREFIXES.contains(&prefix) && canonical(uuid).is_some()
}

/// Fields that are kept as they are and name nothing that is looked up.
const KEPT: [&str; 8] = [
    "sender_id",
    "project_id",
    "template_id",
    "base_template_id",
    "deployment_id",
    "entity_id",
    "otid",
    "tool_call_id",
];

/// Fields in which clients keep what they like, or describe what others are to fill in: nothing below
/// them names a thing.
const FREE: [&str; 7] = [
    "metadata",
    "metadata_",
    "secrets",
    "tool_exec_environment_variables",
    "parameters",
    "response_schema",
    "json_schema",
];

/// Visits the texts of fields that name things: `…id`, `…ids`, and `model`, by which a completion
/// names an agent.
fn visit(value: &mut Value, names: bool, seen: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) if names => seen(text),
        Value::Array(entries) => {
            for entry in entries {
                visit(entry, names, seen);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                if FREE.contains(&key.as_str()) {
                    continue;
                }
                let names = key.ends_with("id") || key.ends_with("ids") || key == "model";
                let names = names && !KEPT.contains(&key.as_str());
                visit(field, names, seen);
            }
        }
        _ => {}
    }
}

/// A refusal with the ids that the client sent.
pub(super) async fn put_back(response: Response, replaced: &BTreeMap<String, String>) -> Response {
    let status = response.status();
    if replaced.is_empty() || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(body) = Limited::new(body, REFUSAL_MAX).collect().await else {
        return Rejection::new(&error::NOT_FOUND).into_response();
    };
    let mut text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    for (id, fresh) in replaced {
        text = text.replace(fresh.as_str(), id);
    }
    parts
        .headers
        .insert(header::CONTENT_LENGTH, text.len().into());
    Response::from_parts(parts, Body::from(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_looked_for_where_things_are_named() {
        let id = format!("agent-{}", Uuid::new_v4());
        let mut body = json!({
            "agent_id": id, "block_ids": [id], "model": id, "messages": [{"content": id}],
            "nested": {"tool_call_id": id, "group_id": id},
            "metadata": {"peer_id": id, "more": [{"agent_ids": [id]}]},
            "parameters": {"properties": {"agent_id": id}},
        });
        let mut seen = Vec::new();
        visit(&mut body, false, &mut |text| seen.push(text.clone()));
        seen.retain(|text| is_id(text));
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn an_id_cannot_be_hidden_by_the_way_in_which_it_is_written() {
        let id = format!("agent-{}", Uuid::new_v4());
        let encoded = id.replace('-', "%2D").replacen('a', "%61", 1);
        let target = format!("/v1/agents/{encoded}/messages?agent_id={encoded}&text=a%26b");
        let expected = format!("/v1/agents/{id}/messages?agent_id={id}&text=a%26b");
        assert_eq!(plain_target(&target), expected);
        let two = format!("/v1/runs/?agent_ids={encoded}%2C{encoded}");
        assert_eq!(plain_target(&two), format!("/v1/runs/?agent_ids={id},{id}"));
        for word in ["/v1/agents/%69mport", "/v1/agents?tags=%61", "/%761/agents"] {
            assert_eq!(plain_target(word), word);
        }
        let (kind, uuid) = id.split_once('-').unwrap();
        for other in [
            uuid.to_uppercase(),
            uuid.replace('-', ""),
            format!("{{{uuid}}}"),
        ] {
            assert!(
                format!("{kind}-{other}")
                    .parse::<bulkhead_domain::id::AgentId>()
                    .is_err()
            );
        }
    }

    #[test]
    fn an_id_is_a_kind_and_a_uuid() {
        let uuid = Uuid::new_v4();
        assert!(is_id(&format!("run-{uuid}")));
        for text in [format!("user-{uuid}"), "run-1".to_owned(), uuid.to_string()] {
            assert!(!is_id(&text), "{text}");
        }
    }
}
