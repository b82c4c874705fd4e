//! A tool as its component knows it, and the list of them.

use serde_json::Value;

use crate::{Error, Output};

/// One tool: what `#[tool]` declares about a function.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    #[doc(hidden)]
    pub name: &'static str,
    #[doc(hidden)]
    pub description: &'static str,
    #[doc(hidden)]
    pub hints: Hints,
    #[doc(hidden)]
    pub wishes: &'static str,
    #[doc(hidden)]
    pub input_schema: fn() -> Value,
    #[doc(hidden)]
    pub output_schema: fn() -> Option<Value>,
    #[doc(hidden)]
    pub run: fn(&str) -> Result<Output, Error>,
}

/// Hints for clients and approval policies; never a grant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// A name for people.
    pub title: Option<&'static str>,
    /// Changes nothing outside of itself.
    pub read_only: bool,
    /// May delete or overwrite.
    pub destructive: bool,
    /// Repeating the call with the same input has no further effect.
    pub idempotent: bool,
    /// Reaches an open set of outside systems, such as the web.
    pub open_world: bool,
}

impl Tool {
    /// The name by which a model calls it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, for the model.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// Hints for clients and approval policies.
    pub fn hints(&self) -> Hints {
        self.hints
    }

    /// The line of its wishes in the component, `{"tool":…,"wishes":…}`; empty without wishes.
    pub fn wishes(&self) -> &'static str {
        self.wishes
    }

    /// JSON Schema 2020-12 of the input.
    pub fn input_schema(&self) -> Value {
        (self.input_schema)()
    }

    /// JSON Schema 2020-12 of the structured output, where it has one.
    pub fn output_schema(&self) -> Option<Value> {
        (self.output_schema)()
    }

    /// Calls it with JSON, as the host does.
    pub fn call(&self, input: &str) -> Result<Output, Error> {
        (self.run)(input)
    }
}

/// A function under `#[tool]`. The attribute implements it for a type of the function's name.
#[doc(hidden)]
pub trait Declared {
    const TOOL: Tool;
}

/// Calls the tool of that name.
pub(crate) fn dispatch(tools: &[Tool], name: &str, input: &str) -> Result<Output, Error> {
    match tools.iter().find(|tool| tool.name == name) {
        Some(tool) => tool.call(input),
        None => Err(Error::NotFound(format!(
            "this component has no tool {name:?}"
        ))),
    }
}

/// Stops the build if two tools of one component share a name.
#[doc(hidden)]
pub const fn assert_unique_names(tools: &[Tool]) {
    let mut left = 0;
    while left < tools.len() {
        let mut right = left + 1;
        while right < tools.len() {
            assert!(
                !same(tools[left].name.as_bytes(), tools[right].name.as_bytes()),
                "two tools have the same name"
            );
            right += 1;
        }
        left += 1;
    }
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Lists the tools of a component; stands once in a crate, at its root.
///
/// It makes `TOOLS`, the list, which tests use; in a component it also writes the exports. Two
/// tools of one name don't compile:
///
/// ```compile_fail,E0080
/// use bulkhead_sdk::{tool, tools};
///
/// /// Greets.
/// #[tool]
/// fn greet() {}
///
/// /// Greets too.
/// #[tool(name = "greet")]
/// fn hello() {}
///
/// tools![greet, hello];
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! tools {
    ($($tool:path),+ $(,)?) => {
        /// The tools of this component.
        pub const TOOLS: &[$crate::Tool] = &[$(<$tool as $crate::__private::Declared>::TOOL),+];

        const _: () = $crate::__private::assert_unique_names(TOOLS);

        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            impl $crate::__private::exports::Tools for Component {
                const TOOLS: &'static [$crate::Tool] = TOOLS;
            }

            $crate::__private::bindings::export!(Component with_types_in $crate::__private::bindings);
        };
    };
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn names_are_the_same_only_if_every_byte_is() {
        assert!(same(b"greet", b"greet"));
        assert!(!same(b"greet", b"great"));
        assert!(!same(b"greet", b"greets"));
    }
}
