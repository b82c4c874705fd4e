//! A set of capabilities: what a component wishes for, what a person granted, what a call gets.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{FolderRule, HttpRule, names};

/// The name that stands for every name in a list of names.
pub const ANY: &str = "*";

/// HTTP rules of one set. A tool talks to a handful of services; 256 is far above any, and keeps
/// matching and intersection (rules times rules) cheap.
pub const MAX_HTTP_RULES: usize = 256;

/// A set of capabilities. The default is the empty set: nothing is allowed.
///
/// As JSON every field may be left out; an unknown field is refused, so that a misspelt
/// restriction can't be taken for none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Capabilities {
    /// Requests that may leave, by any one of these rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpRule>,
    /// Names of credentials that the host may add to requests on the way out.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub credentials: BTreeSet<String>,
    /// Names of credentials that the guest may read (interface `secrets`): the escape hatch.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub reveal: BTreeSet<String>,
    /// Small durable state of its own (interface `state`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub state: bool,
    /// The agent's memory blocks (interface `memory`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRule>,
    /// The agent's archive and conversation (interface `recall`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recall: bool,
    /// Files attached to the agent (interface `files`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// Ids of agents that it may write to (interface `agents`); `*` for any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// Names of other tools that it may call (interface `peers`); `*` for any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub peers: BTreeSet<String>,
    /// Names of environment variables that it may see; `*` for any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub env: BTreeSet<String>,
    /// Folders of the host that it may see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<FolderRule>,
}

/// Which memory blocks, and whether they may be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryRule {
    /// Labels of blocks; `*` for any.
    pub labels: BTreeSet<String>,
    /// Whether blocks may be written, created and deleted, or only read.
    pub write: bool,
}

impl MemoryRule {
    fn limited_to(&self, wish: &Self) -> Option<Self> {
        let labels = names::meet(&self.labels, &wish.labels);
        (!labels.is_empty()).then_some(Self {
            labels,
            write: self.write && wish.write,
        })
    }

    fn covers(&self, other: &Self) -> bool {
        names::cover(&self.labels, &other.labels) && (self.write || !other.write)
    }

    /// The labels of both. One flag stands for all labels: where only some were writable, the
    /// union is read-only, as no grant is widened by another.
    fn union(&mut self, other: &Self) {
        let write = (self.write && names::cover(&self.labels, &other.labels))
            || (other.write && names::cover(&other.labels, &self.labels))
            || (self.write && other.write);
        self.labels.extend(other.labels.iter().cloned());
        self.write = write;
    }
}

impl Capabilities {
    /// What a call gets of this grant when its component wishes for `wish`: the intersection.
    ///
    /// Host folders, private ranges and quotas are the grant's. Call it again on the result for
    /// what a caller narrows.
    #[must_use]
    pub fn limited_to(&self, wish: &Self) -> Self {
        let folders = self
            .folders
            .iter()
            .filter_map(|folder| folder.limited_to(&wish.folders));
        let memory = self.memory.as_ref().zip(wish.memory.as_ref());
        Self {
            http: limit_rules(&self.http, &wish.http),
            credentials: names::wished(&self.credentials, &wish.credentials),
            reveal: names::wished(&self.reveal, &wish.reveal),
            state: self.state && wish.state,
            memory: memory.and_then(|(own, wish)| own.limited_to(wish)),
            recall: self.recall && wish.recall,
            files: self.files && wish.files,
            agents: names::meet(&self.agents, &wish.agents),
            peers: names::meet(&self.peers, &wish.peers),
            env: names::meet(&self.env, &wish.env),
            folders: folders.collect(),
        }
    }

    /// Adds what `other` allows: several grants of one component. A folder at the place of an
    /// earlier one replaces it, unless it is the same folder with fewer rights.
    pub fn union(&mut self, other: &Self) {
        for rule in &other.http {
            if !self.http.iter().any(|own| own.covers(rule)) {
                self.http.push(rule.clone());
            }
        }
        self.credentials.extend(other.credentials.iter().cloned());
        self.reveal.extend(other.reveal.iter().cloned());
        self.state |= other.state;
        match (&mut self.memory, &other.memory) {
            (Some(own), Some(theirs)) => own.union(theirs),
            (own @ None, theirs) => own.clone_from(theirs),
            (Some(_), None) => {}
        }
        self.recall |= other.recall;
        self.files |= other.files;
        self.agents.extend(other.agents.iter().cloned());
        self.peers.extend(other.peers.iter().cloned());
        self.env.extend(other.env.iter().cloned());
        for folder in &other.folders {
            match self
                .folders
                .iter_mut()
                .find(|own| own.guest == folder.guest)
            {
                Some(own) if own.covers(folder) => {}
                Some(own) => own.clone_from(folder),
                None => self.folders.push(folder.clone()),
            }
        }
    }

    /// Whether nothing in `other` is wider than here. Rules are compared one to one: what only
    /// several rules together cover counts as wider, so that a person is asked once too often
    /// rather than once too rarely.
    pub fn covers(&self, other: &Self) -> bool {
        let memory = match (&self.memory, &other.memory) {
            (_, None) => true,
            (None, Some(theirs)) => theirs.labels.is_empty(),
            (Some(own), Some(theirs)) => own.covers(theirs),
        };
        memory
            && other
                .http
                .iter()
                .all(|rule| self.http.iter().any(|own| own.covers(rule)))
            && names::cover(&self.credentials, &other.credentials)
            && names::cover(&self.reveal, &other.reveal)
            && (self.state || !other.state)
            && (self.recall || !other.recall)
            && (self.files || !other.files)
            && names::cover(&self.agents, &other.agents)
            && names::cover(&self.peers, &other.peers)
            && names::cover(&self.env, &other.env)
            && other
                .folders
                .iter()
                .all(|rule| self.folders.iter().any(|own| own.covers(rule)))
    }

    /// Whether nothing at all is allowed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// JSON that is equal for equal sets, in whatever order their rules were written: what a
    /// grant is hashed by.
    pub fn canonical_json(&self) -> String {
        let mut sorted = self.clone();
        sort_by_json(&mut sorted.http);
        sort_by_json(&mut sorted.folders);
        to_json(&sorted)
    }
}

/// The rules that both lists allow, without those that another one covers.
fn limit_rules(grants: &[HttpRule], wishes: &[HttpRule]) -> Vec<HttpRule> {
    let mut limited: Vec<HttpRule> = Vec::new();
    for wish in wishes {
        for rule in grants.iter().filter_map(|grant| grant.limited_to(wish)) {
            if limited.len() == MAX_HTTP_RULES {
                // Two long lists multiply; what is left out is only missing.
                return limited;
            }
            if !limited.iter().any(|known| known.covers(&rule)) {
                limited.push(rule);
            }
        }
    }
    limited
}

fn sort_by_json<T: Serialize>(rules: &mut Vec<T>) {
    rules.sort_by_cached_key(to_json);
    rules.dedup_by_key(|rule| to_json(rule));
}

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("capabilities have string keys and finite numbers only")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(json: &str) -> Capabilities {
        serde_json::from_str(json).expect(json)
    }

    const GRANT: &str = r#"{
        "http": ["https://api.example.com", "any://*.example.org"],
        "credentials": ["token", "other"], "reveal": ["token"], "state": true,
        "memory": {"labels": ["*"], "write": true}, "recall": true,
        "agents": ["*"], "peers": ["a", "b"], "env": ["HOME", "LANG"],
        "folders": [{"host": "/srv", "guest": "/data", "write": true, "quota_bytes": 10}]
    }"#;

    const WISH: &str = r#"{
        "http": ["any://*"], "credentials": ["token", "absent"], "state": true,
        "memory": {"labels": ["human"], "write": true}, "files": true,
        "agents": ["agent-1"], "peers": ["*"], "env": ["LANG", "PATH"],
        "folders": [{"guest": "*"}]
    }"#;

    #[test]
    fn a_call_gets_what_is_both_wished_and_granted() {
        let limited = set(GRANT).limited_to(&set(WISH));
        let expected = set(r#"{
            "http": ["https://api.example.com", "any://*.example.org"],
            "credentials": ["token"], "state": true,
            "memory": {"labels": ["human"], "write": true},
            "agents": ["agent-1"], "peers": ["a", "b"], "env": ["LANG"],
            "folders": [{"host": "/srv", "guest": "/data", "write": false, "quota_bytes": 10}]
        }"#);
        assert_eq!(limited, expected);
        assert!(set(GRANT).covers(&limited));
        assert!(!limited.covers(&set(GRANT)));
    }

    #[test]
    fn nothing_is_granted_without_a_wish_or_wished_into_being() {
        assert!(set(GRANT).limited_to(&Capabilities::default()).is_empty());
        assert!(Capabilities::default().limited_to(&set(WISH)).is_empty());
    }

    #[test]
    fn a_star_among_the_credentials_of_a_grant_is_no_wildcard() {
        let star = set(r#"{"credentials": ["*"], "reveal": ["*"]}"#);
        let named = set(r#"{"credentials": ["token"], "reveal": ["token"]}"#);
        assert!(star.limited_to(&named).is_empty());
        assert!(star.validate().is_err());
        assert_eq!(named.limited_to(&star), named);
        assert!(star.validate_wish().is_ok() && star.covers(&named));
    }

    #[test]
    fn a_union_covers_its_parts() {
        let mut union = set(GRANT);
        let more = set(
            r#"{"http": ["https://api.example.com/v1", "https://b.com"], "files": true,
            "memory": {"labels": ["human"], "write": false}, "env": ["PATH"],
            "folders": [{"host": "/srv", "guest": "/data"}, {"host": "/x", "guest": "/y"}]}"#,
        );
        union.union(&more);
        assert!(union.covers(&set(GRANT)));
        assert!(union.covers(&more));
        assert_eq!(
            union.http.len(),
            3,
            "a rule that is covered is not repeated"
        );
        assert!(union.folders[0].write);
    }

    #[test]
    fn a_union_makes_no_read_only_block_writable() {
        let mut union = set(r#"{"memory": {"labels": ["notes"], "write": true}}"#);
        union.union(&set(
            r#"{"memory": {"labels": ["persona"], "write": false}}"#,
        ));
        assert!(!union.covers(&set(
            r#"{"memory": {"labels": ["persona"], "write": true}}"#
        )));
        assert!(union.covers(&set(r#"{"memory": {"labels": ["persona", "notes"]}}"#)));
    }

    #[test]
    fn canonical_json_ignores_order_and_repetition() {
        let a = set(r#"{"env": ["B", "A"], "http": ["a.com", "b.com", "a.com"]}"#);
        let b =
            set(r#"{"http": ["b.com", {"scheme": "https", "host": "a.com"}], "env": ["A", "B"]}"#);
        assert_eq!(a.canonical_json(), b.canonical_json());
        assert_eq!(Capabilities::default().canonical_json(), "{}");
        assert_eq!(
            set(&a.canonical_json()).canonical_json(),
            a.canonical_json()
        );
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        for json in [
            r#"{"htpp": []}"#,
            r#"{"memory": {"label": []}}"#,
            r#"{"folders": [{}]}"#,
        ] {
            assert!(
                serde_json::from_str::<Capabilities>(json).is_err(),
                "{json}"
            );
        }
    }

    #[test]
    fn two_long_lists_multiply_to_no_more_than_the_limit() {
        let list = |prefix: &str, methods: &str| {
            let rule = |i| format!(r#"{{"host": "*", "{prefix}": {i}, "methods": [{methods}]}}"#);
            let rules: Vec<String> = (1..=100).map(rule).collect();
            set(&format!(r#"{{"http": [{}]}}"#, rules.join(",")))
        };
        let grant = list("max_request_bytes", r#""GET", "PUT""#);
        let wish = list("max_response_bytes", r#""GET", "POST""#);
        assert!(grant.limited_to(&wish).http.len() <= MAX_HTTP_RULES);
    }
}
