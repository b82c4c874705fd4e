//! `bulkhead:tool/source-runtime`: what a language runtime exports.

use bulkhead_domain::Content;

use super::runtime_bindings::exports::bulkhead::tool::source_runtime as exported;
use crate::source::{self, Language};

pub(crate) use exported::{Ended, Execution};

pub(crate) fn source(source: &source::Source) -> exported::Source {
    exported::Source {
        language: match source.language {
            Language::Python => exported::Language::Python,
            Language::JavaScript => exported::Language::Javascript,
            Language::TypeScript => exported::Language::Typescript,
        },
        text: source.text.as_ref().to_owned(),
        function: source.function.clone(),
    }
}

pub(crate) fn environment(environment: &source::Environment) -> exported::Environment {
    let source::Environment {
        variables,
        packages,
        agent,
        peers,
    } = environment.clone();
    exported::Environment {
        variables,
        packages,
        agent,
        peers,
    }
}

pub(crate) fn fault(fault: exported::Fault) -> source::Fault {
    let exported::Fault {
        message,
        line,
        parameter,
    } = fault;
    source::Fault {
        message,
        line,
        parameter,
    }
}

/// What a runtime returned; its structured part is still text.
pub(crate) fn output(output: exported::Output) -> (Vec<Content>, Option<String>) {
    (
        output.content.into_iter().map(Content::from).collect(),
        output.structured,
    )
}
