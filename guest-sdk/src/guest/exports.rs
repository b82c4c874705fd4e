//! Interface `tools`: what the component exports.

use super::{
    bindings::exports::bulkhead::tool::tools::Guest,
    wit::types::{Annotations, Output, ToolError, ToolInfo},
};
use crate::{Tool, tool::dispatch};

/// The tools of a component. [`tools!`](crate::tools) implements it.
pub trait Tools {
    /// In the order of the list.
    const TOOLS: &'static [Tool];
}

impl<T: Tools> Guest for T {
    fn describe() -> Vec<ToolInfo> {
        T::TOOLS.iter().map(describe).collect()
    }

    fn call(name: String, input: String) -> Result<Output, ToolError> {
        dispatch(T::TOOLS, &name, &input)
            .map(Into::into)
            .map_err(Into::into)
    }
}

fn describe(tool: &Tool) -> ToolInfo {
    let hints = tool.hints();
    ToolInfo {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        input_schema: tool.input_schema().to_string(),
        output_schema: tool.output_schema().map(|schema| schema.to_string()),
        annotations: Annotations {
            title: hints.title.map(str::to_owned),
            read_only: hints.read_only,
            destructive: hints.destructive,
            idempotent: hints.idempotent,
            open_world: hints.open_world,
        },
    }
}
