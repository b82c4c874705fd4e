//! Tools that arrive as source text.
//!
//! - [`runtimes`]: the languages' runtimes, installed when they are first needed.
//! - [`derive`]: a tool's function from its source. [`returned`]: what a call's end looks like to a
//!   client. [`packages`]: what `pip_requirements` name.
//! - [`run`]: a call. [`code`]: the built-in tool `run_code`.

pub(crate) mod code;
pub(crate) mod derive;
pub(crate) mod packages;
pub(crate) mod returned;
pub(crate) mod run;
pub(crate) mod runtimes;

use bulkhead_sandbox::Language;

/// The component by which grants mean tools from source; none that is pushed has this name.
pub(crate) const COMPONENT: &str = "source";

/// The language that a `source_type` means. Clients of older releases leave it out or send
/// `json` for Python.
pub(crate) fn language(source_type: Option<&str>) -> Option<Language> {
    match source_type {
        None | Some("python" | "json") => Some(Language::Python),
        Some("typescript") => Some(Language::TypeScript),
        Some("javascript") => Some(Language::JavaScript),
        Some(_) => None,
    }
}
