//! What a new version wants more than the old one, or a new grant allows more.

use serde::Serialize;

use crate::Capabilities;

/// One capability that one set has and the other does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The field of [`Capabilities`], for example `http`.
    pub capability: String,
    /// What of it, for people: a rule, a name, a folder.
    pub value: String,
}

/// How two sets of capabilities differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// What the new set allows and the old one does not.
    pub added: Vec<Change>,
    /// What the old set allows and the new one does not.
    pub removed: Vec<Change>,
}

impl Diff {
    /// The difference from `old` to `new`.
    pub fn between(old: &Capabilities, new: &Capabilities) -> Self {
        Self {
            added: beyond(old, new),
            removed: beyond(new, old),
        }
    }

    /// Whether the new set allows anything that the old one does not: a person has to agree.
    pub fn is_wider(&self) -> bool {
        !self.added.is_empty()
    }
}

/// The parts of `set` that `base` does not cover.
fn beyond(base: &Capabilities, set: &Capabilities) -> Vec<Change> {
    let uncovered = parts(set)
        .into_iter()
        .filter(|(_, part)| !base.covers(part));
    uncovered.map(|(change, _)| change).collect()
}

/// The set as single capabilities, each with its description.
fn parts(set: &Capabilities) -> Vec<(Change, Capabilities)> {
    let mut parts = Vec::new();
    let mut push = |capability: &str, value: String, fill: &dyn Fn(&mut Capabilities)| {
        let mut part = Capabilities::default();
        fill(&mut part);
        parts.push((
            Change {
                capability: capability.to_owned(),
                value,
            },
            part,
        ));
    };
    for rule in &set.http {
        push("http", rule.to_string(), &|part| {
            part.http.push(rule.clone())
        });
    }
    for name in &set.credentials {
        push("credentials", name.clone(), &|part| {
            part.credentials = [name.clone()].into()
        });
    }
    for name in &set.reveal {
        push("reveal", name.clone(), &|part| {
            part.reveal = [name.clone()].into()
        });
    }
    if set.state {
        push("state", "read and write".to_owned(), &|part| {
            part.state = true
        });
    }
    if let Some(memory) = &set.memory {
        for label in &memory.labels {
            let labels = || [label.clone()].into();
            let rights = if memory.write {
                "read and write"
            } else {
                "read"
            };
            push("memory", format!("{rights} {label}"), &|part| {
                part.memory = Some(crate::MemoryRule {
                    labels: labels(),
                    write: memory.write,
                });
            });
        }
    }
    if set.recall {
        push("recall", "search and insert".to_owned(), &|part| {
            part.recall = true
        });
    }
    if set.files {
        push("files", "read".to_owned(), &|part| part.files = true);
    }
    for name in &set.agents {
        push("agents", name.clone(), &|part| {
            part.agents = [name.clone()].into()
        });
    }
    for name in &set.peers {
        push("peers", name.clone(), &|part| {
            part.peers = [name.clone()].into()
        });
    }
    for name in &set.env {
        push("env", name.clone(), &|part| {
            part.env = [name.clone()].into()
        });
    }
    for folder in &set.folders {
        push("folders", folder.to_string(), &|part| {
            part.folders.push(folder.clone())
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(json: &str) -> Capabilities {
        serde_json::from_str(json).expect(json)
    }

    fn lines(changes: &[Change]) -> Vec<String> {
        changes
            .iter()
            .map(|change| format!("{} {}", change.capability, change.value))
            .collect()
    }

    #[test]
    fn what_is_wider_is_added_and_what_is_narrower_is_removed() {
        let old = set(r#"{"http": ["https://a.com"], "env": ["A"], "state": true,
            "memory": {"labels": ["human"]}}"#);
        let new = set(
            r#"{"http": ["any://a.com", {"host": "b.com", "methods": ["GET"]}],
            "env": ["B"], "memory": {"labels": ["human"], "write": true},
            "folders": [{"guest": "/data", "write": true, "quota_bytes": 5}]}"#,
        );
        let diff = Diff::between(&old, &new);
        assert!(diff.is_wider());
        assert_eq!(
            lines(&diff.added),
            [
                "http any://a.com",
                "http GET any://b.com",
                "memory read and write human",
                "env B",
                "folders /data, read and write (at most 5 bytes a call)",
            ]
        );
        assert_eq!(lines(&diff.removed), ["state read and write", "env A"]);
    }

    #[test]
    fn narrowing_is_not_wider() {
        let old = set(r#"{"http": ["any://*"], "peers": ["*"]}"#);
        let new = set(r#"{"http": ["https://a.com/v1"], "peers": ["a"]}"#);
        let diff = Diff::between(&old, &new);
        assert!(!diff.is_wider());
        assert_eq!(lines(&diff.removed), ["http any://*", "peers *"]);
        assert_eq!(Diff::between(&old, &old), Diff::default());
    }
}
