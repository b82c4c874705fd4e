//! Components with plain typed exports as tools.
//!
//! Any component that exports functions on values is a set of tools, whoever made it: the
//! schemas come from the types of its functions, JSON becomes [`wasmtime::component::Val`] and
//! results become JSON again. [`exports`] finds the functions; [`PlainTool`] converts.
//!
//! # JSON forms
//!
//! | WIT | JSON |
//! |---|---|
//! | `bool`, `string` | the same |
//! | `u8` … `s32` | an integer in range; `1.0` is one |
//! | `u64`, `s64` | an integer, or a decimal string; out as a string beyond 2⁵³ − 1 |
//! | `f32`, `f64` | a number, or `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `char` | a string of one character |
//! | `list<u8>` | base64; in also as an array of integers |
//! | other `list`, `tuple` | an array |
//! | `map` | an object where keys are strings, an array of `[key, value]` otherwise |
//! | `record`, the parameters | an object; an optional field may be missing |
//! | `option` | `null`, or the value; inside of another option `{"tag": "some", "value": …}` |
//! | `variant` | `{"tag": "circle", "value": 2.5}`, or `{"tag": "empty"}` for a case without value |
//! | `result` | a variant of the cases `ok` and `err` |
//! | `enum` | a string |
//! | `flags` | an array of different strings |
//!
//! Every name of WIT has underscores in JSON where WIT has hyphens (`max-length`, `max_length`):
//! models and most languages take such names for identifiers. A `result` that a function returns
//! is not part of its output: `err` is a failed call. A result that is no object is wrapped as
//! `{"result": …}`, and a `string` is only text. Resources, futures, streams and error contexts
//! stand for things that end with the call, so functions on them are no tools.

mod budget;
mod bytes;
mod float;
mod input;
mod integer;
mod name;
mod output;
mod problems;
#[cfg(test)]
mod properties;
mod schema;
mod shape;
mod signature;
mod tool;

use wasmtime::{
    Engine,
    component::{
        Component, ComponentExportIndex,
        types::{ComponentFunc, ComponentItem},
    },
};

pub use tool::PlainTool;

/// Functions that are looked at. A model chooses badly among hundreds of tools, and a component
/// can export a million functions.
const MAX_FUNCTIONS: usize = 256;
/// Bytes of a function's path; WebAssembly allows 100,000 for each half.
const MAX_PATH_BYTES: usize = 256;
/// Interfaces that are no tools: those of a program for the command line or a web server, and
/// the sandbox's own.
const NOT_TOOLS: [&str; 2] = ["wasi:", "bulkhead:tool/"];

/// Functions that toolchains add for themselves: interface, function, first parameters, reason.
const OF_TOOLCHAINS: [(&str, &str, &[&str], &str); 1] = [(
    "exports",
    "init",
    &["app-name", "symbols"],
    "componentize-py calls it while it builds a component, never later",
)];

/// The exported functions of a component.
#[derive(Debug, Default)]
pub struct Exports {
    /// Those that can be called as tools, in the order of the component's type.
    pub tools: Vec<PlainTool>,
    /// Those that can't.
    pub skipped: Vec<Skipped>,
}

/// A function that is no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is exported: `interface#function`, or `function` at the root.
    pub path: String,
    /// Why it is no tool, for people.
    pub reason: String,
}

/// The exported functions of a component that can be tools, with why the others can't.
pub fn exports(component: &Component) -> Exports {
    let mut found = Exports::default();
    found.collect(component);
    let paths: Vec<_> = found.tools.iter().map(PlainTool::path).collect();
    let names = name::unique(&paths);
    for (tool, name) in found.tools.iter_mut().zip(names) {
        tool.info.name = name;
    }
    found
}

impl Exports {
    fn collect(&mut self, component: &Component) {
        let engine = component.engine();
        let ty = component.component_type();
        for (export, item) in ty.exports(engine) {
            if self.is_full() {
                return self.skip(export, "a component has too many functions before this one");
            }
            match item.ty {
                ComponentItem::ComponentFunc(function) => {
                    let index = component.get_export_index(None, export);
                    self.function(None, export, index, &function);
                }
                ComponentItem::ComponentInstance(instance) => {
                    let parent = component.get_export_index(None, export);
                    self.interface(component, engine, export, parent, &instance);
                }
                // No functions.
                ComponentItem::CoreFunc(_)
                | ComponentItem::Module(_)
                | ComponentItem::Component(_)
                | ComponentItem::Type(_)
                | ComponentItem::Resource(_) => {}
            }
        }
    }

    fn interface(
        &mut self,
        component: &Component,
        engine: &Engine,
        interface: &str,
        parent: Option<ComponentExportIndex>,
        instance: &wasmtime::component::types::ComponentInstance,
    ) {
        let foreign = NOT_TOOLS.iter().any(|prefix| interface.starts_with(prefix));
        for (export, item) in instance.exports(engine) {
            if self.is_full() {
                return;
            }
            match item.ty {
                ComponentItem::ComponentFunc(_) if foreign => {
                    let path = name::path(Some(interface), export);
                    self.skip(
                        &path,
                        "its interface is between programs and hosts, not a tool's",
                    );
                }
                ComponentItem::ComponentFunc(function) => {
                    let index = component.get_export_index(parent.as_ref(), export);
                    self.function(Some(interface), export, index, &function);
                }
                ComponentItem::ComponentInstance(_) => {
                    let path = name::path(Some(interface), export);
                    self.skip(
                        &path,
                        "an interface inside of an interface has no path to call",
                    );
                }
                ComponentItem::CoreFunc(_)
                | ComponentItem::Module(_)
                | ComponentItem::Component(_)
                | ComponentItem::Type(_)
                | ComponentItem::Resource(_) => {}
            }
        }
    }

    fn function(
        &mut self,
        interface: Option<&str>,
        function: &str,
        index: Option<ComponentExportIndex>,
        ty: &ComponentFunc,
    ) {
        let path = name::path(interface, function);
        let Some(index) = index else {
            return self.skip(&path, "the component has no such export at run time");
        };
        if path.len() > MAX_PATH_BYTES {
            return self.skip(
                &path,
                format!("its path is longer than {MAX_PATH_BYTES} bytes"),
            );
        }
        if function.starts_with('[') {
            return self.skip(&path, "it belongs to a resource, which ends with the call");
        }
        if let Some(reason) = of_toolchain(interface, function, ty) {
            return self.skip(&path, reason);
        }
        match PlainTool::new(path.clone(), index, ty) {
            Ok(tool) => self.tools.push(tool),
            Err(refusal) => self.skip(&path, refusal.to_string()),
        }
    }

    fn is_full(&self) -> bool {
        self.tools.len() + self.skipped.len() >= MAX_FUNCTIONS
    }

    fn skip(&mut self, path: &str, reason: impl Into<String>) {
        let path = problems::shorten(path).into_owned();
        self.skipped.push(Skipped {
            path,
            reason: reason.into(),
        });
    }
}

/// Why the function is a toolchain's, if it is one.
fn of_toolchain(
    interface: Option<&str>,
    function: &str,
    ty: &ComponentFunc,
) -> Option<&'static str> {
    OF_TOOLCHAINS
        .iter()
        .find_map(|&(its_interface, its_function, params, reason)| {
            let is_it = interface == Some(its_interface)
                && function == its_function
                && ty.params().len() >= params.len()
                && ty
                    .params()
                    .zip(params)
                    .all(|((name, _), param)| name == *param);
            is_it.then_some(reason)
        })
}
