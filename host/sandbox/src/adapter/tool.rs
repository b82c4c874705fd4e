//! One exported function as a tool.

use std::sync::Arc;

use bulkhead_domain::{Annotations, Content, Output, Problem, ToolError, ToolInfo};
use serde_json::{Value, json};
use wasmtime::component::{ComponentExportIndex, Val, types::ComponentFunc};

use super::{
    input, output, schema,
    shape::{Field, Refusal, Shape, Shaper},
    signature,
};

/// The property that holds a result which is no object itself.
const RESULT: &str = "result";

/// A plain function that can be called as a tool. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PlainTool {
    /// What models and clients see of it.
    pub info: ToolInfo,
    path: String,
    index: ComponentExportIndex,
    signature: Arc<Signature>,
}

/// The shapes of a function.
#[derive(Debug)]
struct Signature {
    params: Vec<Field>,
    result: Option<Shape>,
}

impl Signature {
    /// The shape of the value that a call which succeeds gives back.
    fn success(&self) -> Option<&Shape> {
        match self.result.as_ref()? {
            Shape::Result(cases) => cases[0].shape.as_ref(),
            shape => Some(shape),
        }
    }
}

impl PlainTool {
    /// The tool at `path` (`interface#function`, or `function` at the root). Its name is empty
    /// until all names of the component are known.
    pub(super) fn new(
        path: String,
        index: ComponentExportIndex,
        function: &ComponentFunc,
    ) -> Result<Self, Refusal> {
        if function.async_() {
            return Err(Refusal::Kind("asynchronous calls"));
        }
        let mut shaper = Shaper::new();
        let params = shaper.fields(function.params())?;
        let result = function
            .results()
            .next()
            .map(|ty| shaper.shape(&ty))
            .transpose()?;
        let signature = Signature { params, result };
        let info = ToolInfo {
            name: String::new(),
            description: description(&path, &signature),
            input_schema: schema::object(&signature.params),
            output_schema: signature.success().and_then(output_schema),
            annotations: Annotations {
                title: Some(path.clone()),
                ..Annotations::default()
            },
        };
        Ok(Self {
            info,
            path,
            index,
            signature: Arc::new(signature),
        })
    }

    /// Where the component exports it: `interface#function`, or `function` at the root.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The export to call, for [`wasmtime::component::Instance::get_func`].
    pub fn index(&self) -> &ComponentExportIndex {
        &self.index
    }

    /// How many results a call gives: the length of the slice to call with.
    pub fn result_count(&self) -> usize {
        usize::from(self.signature.result.is_some())
    }

    /// The arguments in the order of the parameters.
    ///
    /// # Errors
    /// Everything that is wrong with the input, each with its place.
    pub fn arguments(&self, input: &Value) -> Result<Vec<Val>, Vec<Problem>> {
        input::fields(&self.signature.params, input)
    }

    /// What the call gave back.
    ///
    /// # Errors
    /// [`ToolError::Failed`] where the function returned `err`, or something that is too large.
    pub fn output(&self, results: &[Val]) -> Result<Output, ToolError> {
        match (&self.signature.result, results) {
            (None, []) => Ok(Output::default()),
            (Some(Shape::Result(cases)), [Val::Result(result)]) => match result {
                Ok(value) => success(cases[0].shape.as_ref(), value.as_deref()),
                Err(value) => Err(failure(cases[1].shape.as_ref(), value.as_deref())),
            },
            (Some(shape), [value]) => success(Some(shape), Some(value)),
            _ => Err(ToolError::Failed(output::WriteError::Type.to_string())),
        }
    }
}

/// A generated sentence: compiled components carry no doc comments of their WIT.
fn description(path: &str, signature: &Signature) -> String {
    let (place, function) = match path.split_once('#') {
        Some((interface, function)) => (format!(" of `{interface}`"), function),
        None => (String::new(), path),
    };
    let wit = signature::of(function, &signature.params, signature.result.as_ref());
    format!("The function `{function}`{place}: `{wit}`.")
}

/// Whether the JSON form is an object that can stand as it is: protocols such as MCP want the
/// root of structured content to be an object of one type.
fn is_object(shape: &Shape) -> bool {
    matches!(shape, Shape::Record(_) | Shape::Dictionary(_))
}

fn output_schema(shape: &Shape) -> Option<Value> {
    match shape {
        Shape::String => None,
        shape if is_object(shape) => Some(schema::of(shape)),
        shape => Some(json!({
            "type": "object",
            "properties": {RESULT: schema::of(shape)},
            "required": [RESULT],
            "additionalProperties": false,
        })),
    }
}

fn success(shape: Option<&Shape>, val: Option<&Val>) -> Result<Output, ToolError> {
    let (shape, val) = match (shape, val) {
        (None, None) => return Ok(Output::default()),
        (Some(Shape::String), Some(Val::String(text))) => return Ok(text_only(text.clone())),
        (Some(shape), Some(val)) => (shape, val),
        _ => return Err(ToolError::Failed(output::WriteError::Type.to_string())),
    };
    let value = output::value(shape, val).map_err(|error| ToolError::Failed(error.to_string()))?;
    let structured = if is_object(shape) {
        value
    } else {
        json!({RESULT: value})
    };
    let mut output = text_only(structured.to_string());
    output.structured = Some(structured);
    Ok(output)
}

fn text_only(text: String) -> Output {
    Output {
        content: vec![Content::Text { text }],
        ..Output::default()
    }
}

/// The error as text where it is one, as JSON otherwise.
fn failure(shape: Option<&Shape>, val: Option<&Val>) -> ToolError {
    ToolError::Failed(match (shape, val) {
        (_, Some(Val::String(text))) => text.clone(),
        (Some(shape), Some(val)) => match output::value(shape, val) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        },
        _ => "the function returned an error without a value".to_owned(),
    })
}
