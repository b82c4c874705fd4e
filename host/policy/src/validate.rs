//! What is wrong with a grant or a wish, field by field, beyond what its JSON form rules out.

use std::collections::BTreeSet;

use bulkhead_domain::Problem;

use crate::{
    Capabilities,
    capabilities::{ANY, MAX_HTTP_RULES},
};

/// Names in one list. A component that needs more asks for `*`.
pub const MAX_NAMES: usize = 256;
/// Bytes of one name: longer than any id, label or variable that is in use.
pub const MAX_NAME_BYTES: usize = 128;
/// Folders of one set; each is opened when a call starts.
pub const MAX_FOLDERS: usize = 16;

impl Capabilities {
    /// Everything that is wrong with this set as a grant.
    pub fn validate(&self) -> Result<(), Vec<Problem>> {
        self.check(false)
    }

    /// Everything that is wrong with this set as a component's wishes.
    pub fn validate_wish(&self) -> Result<(), Vec<Problem>> {
        self.check(true)
    }

    fn check(&self, in_wish: bool) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        let mut report = |at: String, message: String| problems.push(Problem { at, message });
        if self.http.len() > MAX_HTTP_RULES {
            report(
                "/http".to_owned(),
                format!("more than {MAX_HTTP_RULES} rules"),
            );
        }
        for (i, rule) in self.http.iter().take(MAX_HTTP_RULES).enumerate() {
            if let Some((field, message)) = rule.problem() {
                report(format!("/http/{i}/{field}"), message);
            }
        }
        self.check_names(in_wish, &mut report);
        if self.folders.len() > MAX_FOLDERS {
            report(
                "/folders".to_owned(),
                format!("more than {MAX_FOLDERS} folders"),
            );
        }
        let mut places = BTreeSet::new();
        for (i, folder) in self.folders.iter().take(MAX_FOLDERS).enumerate() {
            if let Some((field, message)) = folder.problem(in_wish) {
                report(format!("/folders/{i}/{field}"), message.to_owned());
            }
            if !places.insert(folder.guest.trim_end_matches('/')) {
                let message = "another folder has the same place in the guest";
                report(format!("/folders/{i}/guest"), message.to_owned());
            }
            let mut others = self.folders.iter().take(MAX_FOLDERS);
            if let Some(other) = others.find(|other| folder.is_writable_through(other)) {
                let message = format!(
                    "is read-only here and can be written through {}",
                    other.guest
                );
                report(format!("/folders/{i}/host"), message);
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    fn check_names(&self, in_wish: bool, report: &mut impl FnMut(String, String)) {
        let none = BTreeSet::new();
        let labels = self.memory.as_ref().map_or(&none, |memory| &memory.labels);
        if self.memory.is_some() && labels.is_empty() {
            let message = "an empty list allows nothing; name blocks, or * for any";
            report("/memory/labels".to_owned(), message.to_owned());
        }
        for (at, names, star) in [
            ("/credentials", &self.credentials, in_wish),
            ("/reveal", &self.reveal, in_wish),
            ("/memory/labels", labels, true),
            ("/agents", &self.agents, true),
            ("/peers", &self.peers, true),
            ("/env", &self.env, true),
        ] {
            if names.len() > MAX_NAMES {
                report(at.to_owned(), format!("more than {MAX_NAMES} names"));
            }
            // The place of a name in a set is its place in the set's order.
            for (i, name) in names.iter().take(MAX_NAMES).enumerate() {
                if name == ANY && !star {
                    report(
                        format!("{at}/{i}"),
                        "secrets are named one by one".to_owned(),
                    );
                } else if let Some(message) = problem_of_name(name, at == "/env") {
                    report(format!("{at}/{i}"), message);
                }
            }
        }
    }
}

fn problem_of_name(name: &str, is_variable: bool) -> Option<String> {
    if name.is_empty() {
        Some("a name is not empty".to_owned())
    } else if name.len() > MAX_NAME_BYTES {
        Some(format!("a name has at most {MAX_NAME_BYTES} bytes"))
    } else if name.contains(char::is_control) {
        Some("a name has no control characters".to_owned())
    } else if is_variable && name.contains('=') {
        Some("the name of a variable has no =".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(json: &str, in_wish: bool) -> Vec<String> {
        let set: Capabilities = serde_json::from_str(json).expect(json);
        let problems = set.check(in_wish).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.at).collect()
    }

    #[test]
    fn a_good_grant_has_no_problems() {
        let json = r#"{"http": ["https://a.com/v1"], "credentials": ["token"], "peers": ["*"],
            "memory": {"labels": ["*"]}, "folders": [{"host": "/srv", "guest": "/data"}]}"#;
        assert_eq!(places(json, false), Vec::<String>::new());
    }

    #[test]
    fn every_problem_is_named_by_its_pointer() {
        let json = r#"{"credentials": ["*"], "env": ["A=B", "", "C"], "agents": ["a\nb"],
            "memory": {"labels": []},
            "folders": [{"guest": "/data"}, {"host": "/x/../y", "guest": "/data/"}]}"#;
        assert_eq!(
            places(json, false),
            [
                "/memory/labels",
                "/credentials/0",
                "/agents/0",
                "/env/0",
                "/env/1",
                "/folders/0/host",
                "/folders/1/host",
                "/folders/1/guest",
            ]
        );
    }

    #[test]
    fn a_read_only_folder_inside_a_writable_one_is_a_problem() {
        let folders = |first: (&str, bool), second: (&str, bool)| {
            let json = serde_json::json!({"folders": [
                {"host": first.0, "guest": "/a", "write": first.1},
                {"host": second.0, "guest": "/b", "write": second.1},
            ]});
            places(&json.to_string(), false)
        };
        let inner = ["/folders/1/host"];
        assert_eq!(folders(("/srv", true), ("/srv/x", false)), inner);
        assert_eq!(folders(("/srv//", true), ("/srv", false)), inner);
        assert_eq!(folders(("/", true), ("/srv", false)), inner);
        assert_eq!(
            folders(("/srv/x", false), ("/srv/", true)),
            ["/folders/0/host"]
        );
        for (first, second) in [
            (("/srv", true), ("/srv/x", true)),
            (("/srv", false), ("/srv/x", false)),
            (("/srv", false), ("/srv/x", true)),
            (("/srv", true), ("/srvx", false)),
        ] {
            assert!(folders(first, second).is_empty(), "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_wish_names_no_folder_of_the_host() {
        assert_eq!(
            places(r#"{"folders": [{"host": "/etc", "guest": "/x"}]}"#, true),
            ["/folders/0/host"]
        );
        assert_eq!(
            places(r#"{"folders": [{"guest": "*"}]}"#, true),
            Vec::<String>::new()
        );
    }

    #[test]
    fn long_lists_are_refused() {
        let set = Capabilities {
            http: vec!["a.com".parse().expect("a rule"); MAX_HTTP_RULES + 1],
            peers: (0..=MAX_NAMES).map(|i| i.to_string()).collect(),
            ..Capabilities::default()
        };
        let problems = set.validate().expect_err("too many");
        assert_eq!(problems[0].at, "/http");
        assert_eq!(problems[1].at, "/peers");
    }
}
