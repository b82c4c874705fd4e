//! Tools that an agent can call. Each function with `#[tool]` is one.

use bulkhead_sdk::{Error, context, tool, tools};

/// Greets someone. This sentence is what a model reads to decide whether to call the tool.
#[tool(read_only, idempotent)]
pub fn greet(
    /// Who to greet.
    name: String,
    /// How many exclamation marks to put; one if left out.
    volume: Option<u8>,
) -> Result<String, Error> {
    if name.trim().is_empty() {
        // Names the place in the input, so that the model can repair its call.
        return Err(Error::invalid("/name", "is empty"));
    }
    // Reaches whoever waits for the call at once.
    context::progress("greeting", None);
    let marks = "!".repeat(usize::from(volume.unwrap_or(1)));
    Ok(format!("Hello, {name}{marks}"))
}

// Every tool of this component.
tools![greet];

#[cfg(test)]
mod tests {
    use bulkhead_sdk::{json, mock};

    use super::*;

    #[test]
    fn it_greets_as_the_server_would_call_it() {
        let host = mock::Host::new().install();
        let output = mock::call(TOOLS, "greet", json!({"name": "Ada", "volume": 2}));
        assert_eq!(output.expect("a greeting").text(), "Hello, Ada!!");
        assert_eq!(host.progress()[0].message, "greeting");
    }

    #[test]
    fn an_empty_name_is_refused() {
        assert!(greet(" ".to_owned(), None).is_err());
    }
}
