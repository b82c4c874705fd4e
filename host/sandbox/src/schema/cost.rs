//! What checking a value against a schema can cost at most.
//!
//! A validator follows references wherever they lead, outside of fuel and deadlines and on the
//! host's stack. So a schema is unfolded on paper before it is compiled: the sum of all its parts
//! with each reference replaced by what it refers to, and the longest way down. References back
//! to a part that is being unfolded make it recursive; how deep a value of it may be follows from
//! how many such references there are.

use std::collections::HashMap;

use serde_json::Value;

/// Parts of the unfolded schema. Far above any schema of a tool, and checked in microseconds.
const MAX_PARTS: u64 = 20_000;
/// Levels of the unfolded schema; each takes some hundred bytes of the host's stack.
const MAX_LEVELS: usize = 128;
/// Levels of a value, as far as `serde_json` parses them.
const MAX_DEPTH: usize = 128;
/// Levels of schema and value together, for the host's stack again.
const MAX_STACK: usize = 2_048;
/// Binary digits of the visits that a recursive schema may cost: a million.
const MAX_VISITS_LOG2: f64 = 20.0;
/// Patterns of a schema.
const MAX_PATTERNS: u64 = 64;

/// What a schema costs.
pub(super) struct Cost {
    /// How deep a value may be that is checked against it.
    pub(super) max_depth: usize,
    /// Its parts with each reference replaced by what it refers to.
    pub(super) parts: u64,
    /// Its patterns.
    pub(super) patterns: u64,
}

/// What `schema` costs; the error says why it is refused.
pub(super) fn of(schema: &Value) -> Result<Cost, String> {
    let mut unfolding = Unfolding {
        root: schema,
        known: HashMap::new(),
        open: Vec::new(),
        back: 0,
        patterns: 0,
    };
    let (parts, levels) = unfolding.unfold(schema, 0)?;
    if parts > MAX_PARTS {
        return Err(format!(
            "it has {parts} parts with its references, more than {MAX_PARTS}"
        ));
    }
    if unfolding.patterns > MAX_PATTERNS {
        return Err(format!("it has more than {MAX_PATTERNS} patterns"));
    }
    let by_stack = MAX_STACK / levels.max(1);
    let by_visits = match unfolding.back {
        0 | 1 => MAX_DEPTH,
        // Each level of the value may be visited once for each reference back.
        back => (MAX_VISITS_LOG2 / f64::from(back).log2()) as usize,
    };
    let depth = MAX_DEPTH.min(by_visits);
    Ok(Cost {
        max_depth: match unfolding.back {
            0 => MAX_DEPTH,
            _ => depth.min(by_stack),
        },
        parts,
        patterns: unfolding.patterns,
    })
}

/// Whether `value` has at most `levels` levels. Stops where it knows.
pub(super) fn is_within_depth(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels > 0 && items.iter().all(|item| is_within_depth(item, levels - 1))
        }
        Value::Object(fields) => {
            levels > 0
                && fields
                    .values()
                    .all(|field| is_within_depth(field, levels - 1))
        }
        _ => true,
    }
}

struct Unfolding<'a> {
    root: &'a Value,
    /// Parts and levels of what was unfolded, by its place in memory.
    known: HashMap<*const Value, (u64, usize)>,
    /// What is being unfolded.
    open: Vec<*const Value>,
    /// References back to what is being unfolded.
    back: u32,
    patterns: u64,
}

impl<'a> Unfolding<'a> {
    /// Parts and levels of `part` with its references.
    fn unfold(&mut self, part: &'a Value, level: usize) -> Result<(u64, usize), String> {
        if level > MAX_LEVELS {
            return Err(format!(
                "it is deeper than {MAX_LEVELS} levels with its references"
            ));
        }
        let place: *const Value = part;
        if let Some(known) = self.known.get(&place) {
            return if level + known.1 > MAX_LEVELS {
                Err(format!(
                    "it is deeper than {MAX_LEVELS} levels with its references"
                ))
            } else {
                Ok(*known)
            };
        }
        if self.open.contains(&place) {
            self.back += 1;
            return Ok((1, 1));
        }
        self.open.push(place);
        let (mut parts, mut levels) = (1_u64, 1);
        let mut add = |(more, deep): (u64, usize)| {
            parts = parts.saturating_add(more);
            levels = levels.max(deep + 1);
        };
        match part {
            Value::Array(items) => {
                for item in items {
                    add(self.unfold(item, level + 1)?);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    match (name.as_str(), field) {
                        ("$ref", Value::String(target)) => {
                            let target = self.target(target)?;
                            add(self.unfold(target, level + 1)?);
                        }
                        ("$dynamicRef" | "$recursiveRef", _) => {
                            return Err(format!("{name} is not supported; use $ref"));
                        }
                        // Counted where they are referred to.
                        ("$defs" | "definitions", Value::Object(_)) => {}
                        ("pattern", Value::String(_)) => self.patterns += 1,
                        ("patternProperties", Value::Object(patterns)) => {
                            self.patterns += patterns.len() as u64;
                            add(self.unfold(field, level + 1)?);
                        }
                        _ => add(self.unfold(field, level + 1)?),
                    }
                }
            }
            _ => {}
        }
        self.open.pop();
        self.known.insert(place, (parts, levels));
        Ok((parts, levels))
    }

    /// What a reference refers to within the schema.
    fn target(&self, reference: &str) -> Result<&'a Value, String> {
        let found = reference.strip_prefix('#').and_then(|pointer| {
            // A pointer in a URI is percent-encoded; names of schemas are plain.
            self.root.pointer(pointer)
        });
        found.ok_or_else(|| {
            format!("the reference {reference:?} leads to no place in the schema; only #/… does")
        })
    }
}
