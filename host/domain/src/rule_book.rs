//! What the rules on an agent's tools mean: which tools a model is offered next, whether it must
//! call one, whether a call waits for a person, and whether the run may end.
//!
//! All rules that hold at a moment are intersected. Where nothing is left the rules contradict
//! each other, and all tools are offered: an agent that can do nothing helps nobody. The one rule
//! that bars on purpose is a conditional one with `require_output_mapping`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::tool_rule::{RuleKind, ToolRule};

/// The rules of one agent.
#[derive(Debug, Clone, Default)]
pub struct RuleBook {
    rules: Vec<ToolRule>,
}

/// What was called in this request so far. It begins empty with every request.
#[derive(Debug, Clone, Default)]
pub struct CallHistory {
    counts: BTreeMap<String, u32>,
    last: Option<(String, String)>,
}

impl CallHistory {
    /// Notes a call and the text of its result.
    pub fn record(&mut self, tool: &str, output: &str) {
        let count = self.counts.entry(tool.to_owned()).or_default();
        *count = count.saturating_add(1);
        self.last = Some((tool.to_owned(), output.to_owned()));
    }

    /// The tool that was called last.
    pub fn last(&self) -> Option<&str> {
        self.last.as_ref().map(|(tool, _)| tool.as_str())
    }

    /// How often a tool was called.
    pub fn count(&self, tool: &str) -> u32 {
        self.counts.get(tool).copied().unwrap_or(0)
    }
}

/// What a model is offered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// The tools, in the order of the agent's.
    pub tools: Vec<String>,
    /// Whether it must call one of them.
    pub forced: bool,
    /// Arguments that replace the model's, by tool.
    pub prefilled: BTreeMap<String, Map<String, Value>>,
}

impl RuleBook {
    /// The book of these rules; later doubles are dropped.
    pub fn new(rules: &[ToolRule]) -> Self {
        let mut kept: Vec<ToolRule> = Vec::with_capacity(rules.len());
        for rule in rules {
            if !kept.contains(rule) {
                kept.push(rule.clone());
            }
        }
        Self { rules: kept }
    }

    /// What a model is offered of `available`, after what was called so far.
    pub fn offer<S: AsRef<str>>(&self, available: &[S], history: &CallHistory) -> Offer {
        let all: BTreeSet<&str> = available.iter().map(AsRef::as_ref).collect();
        let mut offer = Offer::default();
        let mut left = all.clone();
        let mut barred = false;
        if history.last.is_none() {
            let first = self.first_tools(&all, &mut offer.prefilled);
            if !first.is_empty() {
                left.retain(|tool| first.contains(tool));
                offer.forced = true;
            }
        }
        for rule in &self.rules {
            let is_last = history.last() == Some(rule.tool_name.as_str());
            match &rule.kind {
                RuleKind::ConstrainChildTools {
                    children,
                    child_arg_nodes,
                } if is_last => {
                    left.retain(|tool| children.iter().any(|child| child == tool));
                    offer.forced = true;
                    for node in child_arg_nodes.iter().flatten() {
                        if let Some(args) = &node.args {
                            offer.prefilled.insert(node.name.clone(), args.clone());
                        }
                    }
                }
                RuleKind::ParentLastTool { children } => {
                    left.retain(|tool| children.iter().any(|child| child == tool) == is_last);
                    offer.forced |= is_last;
                }
                RuleKind::Conditional {
                    child_output_mapping,
                    default_child,
                    require_output_mapping,
                } if is_last => {
                    let output = history.last.as_ref().map_or("", |(_, output)| output);
                    let child = child_output_mapping
                        .iter()
                        .find(|(key, _)| same_output(key, output))
                        .map(|(_, child)| child)
                        .or(default_child.as_ref());
                    match child {
                        Some(child) => {
                            left.retain(|tool| tool == child);
                            offer.forced = true;
                        }
                        None => barred |= *require_output_mapping,
                    }
                }
                RuleKind::MaxCountPerStep { max_count_limit }
                    if history.count(&rule.tool_name) >= *max_count_limit =>
                {
                    left.remove(rule.tool_name.as_str());
                }
                _ => {}
            }
        }
        if barred {
            return Offer::default();
        }
        if left.is_empty() {
            left = all;
            offer.forced = false;
        }
        let names = available.iter().map(AsRef::as_ref);
        offer.tools = names
            .filter(|tool| left.contains(tool))
            .map(str::to_owned)
            .collect();
        offer
            .prefilled
            .retain(|tool, _| left.contains(tool.as_str()));
        offer
    }

    fn first_tools<'a>(
        &'a self,
        all: &BTreeSet<&str>,
        prefilled: &mut BTreeMap<String, Map<String, Value>>,
    ) -> BTreeSet<&'a str> {
        let mut first = BTreeSet::new();
        for rule in &self.rules {
            if let RuleKind::RunFirst { args } = &rule.kind
                && all.contains(rule.tool_name.as_str())
            {
                first.insert(rule.tool_name.as_str());
                if let Some(args) = args {
                    prefilled.insert(rule.tool_name.clone(), args.clone());
                }
            }
        }
        first
    }

    fn has(&self, tool: &str, kind: fn(&RuleKind) -> bool) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.tool_name == tool && kind(&rule.kind))
    }

    /// Whether a call of the tool ends the run.
    pub fn exits(&self, tool: &str) -> bool {
        self.has(tool, |kind| matches!(kind, RuleKind::ExitLoop))
    }

    /// Whether a call of the tool lets the run go on, also in loops that end after a call.
    pub fn continues(&self, tool: &str) -> bool {
        self.has(tool, |kind| {
            matches!(
                kind,
                RuleKind::ContinueLoop
                    | RuleKind::ConstrainChildTools { .. }
                    | RuleKind::Conditional { .. }
                    | RuleKind::ParentLastTool { .. }
            )
        })
    }

    /// Whether a person is asked before each call of the tool.
    pub fn requires_approval(&self, tool: &str) -> bool {
        self.has(tool, |kind| matches!(kind, RuleKind::RequiresApproval))
    }

    /// The tools that the run has to call before it ends and that are there.
    pub fn missing_before_exit<S: AsRef<str>>(
        &self,
        available: &[S],
        history: &CallHistory,
    ) -> Vec<String> {
        let mut missing = Vec::new();
        for rule in &self.rules {
            let tool = &rule.tool_name;
            if matches!(rule.kind, RuleKind::RequiredBeforeExit)
                && history.count(tool) == 0
                && available.iter().any(|name| name.as_ref() == tool)
                && !missing.contains(tool)
            {
                missing.push(tool.clone());
            }
        }
        missing
    }

    /// Whether no rule constrains the order or number of calls, so that several may come at once.
    pub fn allows_parallel_calls(&self) -> bool {
        self.rules
            .iter()
            .all(|rule| matches!(rule.kind, RuleKind::RequiresApproval))
    }

    /// What the model is told, a text for each rule that has one.
    pub fn texts(&self) -> Vec<String> {
        self.rules.iter().filter_map(text).collect()
    }

    /// The texts of the rules on a tool that may not be called now, and on the one called last.
    pub fn hints(&self, tool: &str, last: Option<&str>) -> Vec<String> {
        let concerns = |rule: &&ToolRule| {
            let children = match &rule.kind {
                RuleKind::ParentLastTool { children } => children.iter().any(|child| child == tool),
                _ => false,
            };
            children || rule.tool_name == tool || Some(rule.tool_name.as_str()) == last
        };
        self.rules
            .iter()
            .filter(concerns)
            .filter_map(text)
            .collect()
    }
}

fn text(rule: &ToolRule) -> Option<String> {
    let tool = &rule.tool_name;
    Some(match &rule.kind {
        RuleKind::ConstrainChildTools { children, .. } => format!(
            "After using {tool}, you must use one of these tools: {}",
            children.join(", ")
        ),
        RuleKind::ParentLastTool { children } => {
            format!("{} can only be used after {tool}", children.join(", "))
        }
        RuleKind::Conditional { .. } => {
            format!("{tool} will determine which tool to use next based on its output")
        }
        RuleKind::ExitLoop => format!("{tool} ends your response (yields control) when called"),
        RuleKind::ContinueLoop => format!("{tool} requires continuing your response when called"),
        RuleKind::MaxCountPerStep { max_count_limit } => {
            format!("{tool}: at most {max_count_limit} use(s) per response")
        }
        RuleKind::RunFirst { .. } | RuleKind::RequiredBeforeExit | RuleKind::RequiresApproval => {
            return None;
        }
    })
}

/// Whether a key of a mapping, which is text in JSON, means this output. Truth values and numbers
/// are written differently by different languages.
fn same_output(key: &str, output: &str) -> bool {
    let (key, output) = (key.trim(), output.trim());
    let word = |text: &str| match text {
        "True" | "true" => Some("true"),
        "False" | "false" => Some("false"),
        "None" | "null" => Some("null"),
        _ => None,
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    key == output
        || word(key).is_some_and(|key| word(output) == Some(key))
        || number(key).is_some_and(|key| number(output) == Some(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn book(rules: Value) -> RuleBook {
        let rules: Vec<ToolRule> = serde_json::from_value(rules).expect("rules");
        RuleBook::new(&rules)
    }

    fn offered(book: &RuleBook, history: &CallHistory) -> (String, bool) {
        let offer = book.offer(&["a", "b", "c", "d"], history);
        (offer.tools.concat(), offer.forced)
    }

    fn after(calls: &[(&str, &str)]) -> CallHistory {
        let mut history = CallHistory::default();
        for (tool, output) in calls {
            history.record(tool, output);
        }
        history
    }

    #[test]
    fn without_rules_everything_is_offered_and_nothing_forced() {
        let book = book(json!([]));
        assert_eq!(offered(&book, &after(&[])), ("abcd".into(), false));
        assert!(book.allows_parallel_calls());
    }

    #[test]
    fn the_first_call_is_one_of_the_first_tools_with_their_arguments() {
        let book = book(json!([
            {"type": "run_first", "tool_name": "b", "args": {"x": 1}},
            {"type": "run_first", "tool_name": "gone"},
        ]));
        let offer = book.offer(&["a", "b"], &after(&[]));
        assert_eq!((offer.tools, offer.forced), (vec!["b".to_owned()], true));
        assert_eq!(offer.prefilled["b"]["x"], 1);
        let later = book.offer(&["a", "b"], &after(&[("b", "")]));
        assert!(!later.forced && later.prefilled.is_empty() && later.tools.len() == 2);
    }

    #[test]
    fn a_child_rule_narrows_only_right_after_its_tool() {
        let book = book(json!([
            {"type": "constrain_child_tools", "tool_name": "a", "children": ["b", "c"],
             "child_arg_nodes": [{"name": "b", "args": {"k": true}}]},
        ]));
        let right_after = book.offer(&["a", "b", "c", "d"], &after(&[("a", "")]));
        assert_eq!(
            (right_after.tools.concat(), right_after.forced),
            ("bc".into(), true)
        );
        assert_eq!(right_after.prefilled["b"]["k"], true);
        assert_eq!(
            offered(&book, &after(&[("a", ""), ("b", "")])),
            ("abcd".into(), false)
        );
    }

    #[test]
    fn children_of_a_parent_are_withheld_at_every_other_time() {
        let book = book(json!([
            {"type": "parent_last_tool", "tool_name": "a", "children": ["b"]},
        ]));
        assert_eq!(offered(&book, &after(&[])), ("acd".into(), false));
        assert_eq!(offered(&book, &after(&[("a", "")])), ("b".into(), true));
    }

    #[test]
    fn a_condition_follows_the_output_however_it_is_written() {
        let rule = |default: Value, require: bool| {
            book(json!([{"type": "conditional", "tool_name": "a",
                "child_output_mapping": {"true": "b", "3": "c", "red": "d"},
                "default_child": default, "require_output_mapping": require}]))
        };
        let open = rule(Value::Null, false);
        for (output, tools) in [("True", "b"), ("3.0", "c"), ("red", "d"), ("blue", "abcd")] {
            assert_eq!(
                offered(&open, &after(&[("a", output)])).0,
                tools,
                "{output}"
            );
        }
        assert_eq!(
            offered(&rule(json!("b"), false), &after(&[("a", "blue")])).0,
            "b"
        );
        assert_eq!(
            offered(&rule(Value::Null, true), &after(&[("a", "blue")])).0,
            ""
        );
    }

    #[test]
    fn a_tool_is_withheld_when_it_is_used_up() {
        let book = book(json!([
            {"type": "max_count_per_step", "tool_name": "a", "max_count_limit": 2},
        ]));
        assert_eq!(offered(&book, &after(&[("a", "")])).0, "abcd");
        assert_eq!(offered(&book, &after(&[("a", ""), ("a", "")])).0, "bcd");
    }

    #[test]
    fn rules_are_intersected_and_a_contradiction_offers_everything() {
        let both = book(json!([
            {"type": "constrain_child_tools", "tool_name": "a", "children": ["b", "c"]},
            {"type": "max_count_per_step", "tool_name": "b", "max_count_limit": 1},
        ]));
        assert_eq!(
            offered(&both, &after(&[("b", ""), ("a", "")])),
            ("c".into(), true)
        );
        let contradiction = book(json!([
            {"type": "constrain_child_tools", "tool_name": "a", "children": ["b"]},
            {"type": "constrain_child_tools", "tool_name": "a", "children": ["c"]},
        ]));
        assert_eq!(
            offered(&contradiction, &after(&[("a", "")])),
            ("abcd".into(), false)
        );
    }

    #[test]
    fn what_is_required_is_missing_until_it_was_called() {
        let book = book(json!([
            {"type": "required_before_exit", "tool_name": "b"},
            {"type": "exit_loop", "tool_name": "a"},
        ]));
        assert_eq!(
            book.missing_before_exit(&["a", "b"], &after(&[("a", "")])),
            ["b"]
        );
        assert!(
            book.missing_before_exit(&["a", "b"], &after(&[("b", "")]))
                .is_empty()
        );
        assert!(book.missing_before_exit(&["a"], &after(&[])).is_empty());
        assert!(book.exits("a") && !book.exits("b"));
    }

    #[test]
    fn texts_and_hints_name_the_rules_that_concern_a_call() {
        let book = book(json!([
            {"type": "constrain_child_tools", "tool_name": "a", "children": ["b", "c"]},
            {"type": "max_count_per_step", "tool_name": "d", "max_count_limit": 2},
            {"type": "requires_approval", "tool_name": "d"},
        ]));
        assert_eq!(book.texts().len(), 2);
        assert_eq!(
            book.hints("d", Some("a")),
            [
                "After using a, you must use one of these tools: b, c",
                "d: at most 2 use(s) per response"
            ]
        );
        assert!(book.hints("b", None).is_empty());
    }

    #[test]
    fn rules_read_and_write_their_wire_form() {
        let wire = json!({"tool_name": "a", "type": "exit_loop", "prompt_template": null});
        let rule: ToolRule = serde_json::from_value(wire.clone()).expect("a rule");
        assert_eq!(serde_json::to_value(rule).expect("json"), wire);
    }
}
