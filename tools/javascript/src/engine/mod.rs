//! One run of the engine.
//!
//! - [`jobs`]: promises and timers.
//! - [`error`]: what was thrown, as the interface says it; [`traceback`]: its frames.
//! - [`json`]: values as JSON; [`inspect`]: values as people read them.
//! - [`modules`]: what is said of imports while the program runs.

pub(crate) mod error;
pub(crate) mod inspect;
pub(crate) mod jobs;
pub(crate) mod json;
mod modules;
pub(crate) mod traceback;

use std::{cell::Cell, path::Path, rc::Rc};

use boa_engine::{
    Context, JsResult, JsString, JsValue, Module, Script, Source,
    ast::scope::Scope,
    builtins::promise::PromiseState,
    interner::Interner,
    js_string,
    object::{
        JsObject,
        builtins::{JsFunction, JsPromise},
    },
    parser::{self, Parser, lexer},
};

use crate::{
    abi::{Environment, Fault, Language},
    globals,
    host::Host,
    source::{
        parse::syntax_fault,
        program::{Kind, Program, Shift},
    },
};
use jobs::Jobs;
use modules::NoModules;

/// Calls within calls; one by a native function (a callback of `map`, a getter) counts twice. Only
/// those take the component's stack, of which 1 MiB was seen to end at some 1,080 (540 callbacks of
/// `replace`, each within the one before).
const MAX_RECURSION: usize = 700;
/// Values of all those calls.
const MAX_STACK_VALUES: usize = 64 << 10;
/// Frames that an error remembers.
const MAX_FRAMES: usize = 30;

/// An engine in which a program runs.
pub(crate) struct Engine {
    pub(crate) context: Context,
    jobs: Rc<Jobs>,
    /// How the source is called in tracebacks.
    pub(crate) file: &'static str,
}

/// What native functions need, kept in the engine's context.
pub(crate) struct Services {
    pub(crate) host: Rc<dyn Host>,
    pub(crate) jobs: Rc<Jobs>,
    pub(crate) environment: Environment,
    /// The status that the program ended itself with.
    pub(crate) exit: Cell<Option<i32>>,
    /// How the source is called in tracebacks.
    pub(crate) file: &'static str,
    /// The engine's own getter of an error's frames, and functions that the program can't change.
    pub(crate) frames: JsValue,
    pub(crate) parse_json: JsValue,
    pub(crate) keys: JsValue,
    /// What moved within a line of the program.
    pub(crate) shift: Cell<Option<Shift>>,
}

impl Engine {
    /// An engine that has run nothing.
    pub(crate) fn new(
        language: Language,
        environment: &Environment,
        host: Rc<dyn Host>,
    ) -> JsResult<Self> {
        let jobs = Rc::new(Jobs::new(Rc::clone(&host)));
        let mut context = Context::builder()
            .job_executor(Rc::clone(&jobs))
            .module_loader(Rc::new(NoModules))
            .build()?;
        let limits = context.runtime_limits_mut();
        limits.set_recursion_limit(MAX_RECURSION);
        limits.set_stack_size_limit(MAX_STACK_VALUES);
        limits.set_backtrace_limit(MAX_FRAMES);

        let file = file_name(language);
        let json = context.intrinsics().objects().json();
        let objects = context.intrinsics().constructors().object().constructor();
        let services = Services {
            host,
            jobs: Rc::clone(&jobs),
            environment: environment.clone(),
            exit: Cell::new(None),
            file,
            frames: traceback::take_over(&mut context)?,
            parse_json: json.get(js_string!("parse"), &mut context)?,
            keys: objects.get(js_string!("keys"), &mut context)?,
            shift: Cell::new(None),
        };
        context.insert_data(Rc::new(services));
        globals::install(&mut context)?;
        Ok(Self {
            context,
            jobs,
            file,
        })
    }

    /// Runs a program to the value that is wanted of it. Promises of modules are awaited; those
    /// of the value are not.
    pub(crate) fn evaluate(&mut self, program: &Program) -> JsResult<JsValue> {
        services(&self.context).shift.set(program.shift);
        let source = Source::from_bytes(program.text.as_bytes()).with_path(Path::new(self.file));
        match program.kind {
            Kind::Script => {
                Script::parse(source, None, &mut self.context)?.evaluate(&mut self.context)
            }
            Kind::Module { export } => {
                let module = Module::parse(source, None, &mut self.context)?;
                let done = module.load_link_evaluate(&mut self.context);
                self.settle(done)?;
                let namespace = module.namespace(&mut self.context);
                namespace.get(JsString::from(export), &mut self.context)
            }
        }
    }

    /// The value of a name at the top level of what ran as a script.
    pub(crate) fn global(&mut self, name: &str) -> JsResult<JsValue> {
        let source = Source::from_bytes(name.as_bytes());
        Script::parse(source, None, &mut self.context)?.evaluate(&mut self.context)
    }

    /// The value of a promise, or the value itself. Runs promises and timers until it is there.
    pub(crate) fn awaited(&mut self, value: JsValue) -> JsResult<JsValue> {
        let Some(object) = value.as_object() else {
            return Ok(value);
        };
        if let Ok(promise) = JsPromise::from_object(object.clone()) {
            return self.settle(promise);
        }
        // Whatever has a `then` can be awaited.
        let then = object.get(js_string!("then"), &mut self.context)?;
        if then.is_callable() {
            let promise = JsPromise::resolve(value, &mut self.context)?;
            return self.settle(promise);
        }
        Ok(value)
    }

    fn settle(&mut self, promise: JsPromise) -> JsResult<JsValue> {
        self.jobs
            .run_until(&mut self.context, |_| settled(&promise))?;
        match promise.state() {
            PromiseState::Fulfilled(value) => Ok(value),
            PromiseState::Rejected(reason) => Err(boa_engine::JsError::from_opaque(reason)),
            PromiseState::Pending => Err(boa_engine::JsNativeError::error()
                .with_message(
                    "the result never came: it waits for a promise that nothing can settle any more",
                )
                .into()),
        }
    }

    /// Runs what is left: all promises, and all timers.
    pub(crate) fn finish(&mut self) -> JsResult<()> {
        self.jobs.finish(&mut self.context)
    }

    /// Runs promises that are ready.
    pub(crate) fn run_promises(&mut self) -> JsResult<()> {
        self.jobs.run_promises(&mut self.context)
    }

    /// JSON as a value. The text never is code.
    pub(crate) fn parse_json(&mut self, text: &str) -> JsResult<JsValue> {
        parse_json(text, &mut self.context)
    }
}

fn settled(promise: &JsPromise) -> bool {
    !matches!(promise.state(), PromiseState::Pending)
}

/// What native functions need.
pub(crate) fn services(context: &Context) -> Rc<Services> {
    let services = context.get_data::<Rc<Services>>();
    Rc::clone(services.expect("Engine::new puts it there before anything runs"))
}

/// JSON as a value, by the function that the program can't replace.
pub(crate) fn parse_json(text: &str, context: &mut Context) -> JsResult<JsValue> {
    let parse = services(context).parse_json.clone();
    call(&parse, &[JsString::from(text).into()], context)
}

/// Calls a function value.
pub(crate) fn call(
    function: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    match function.as_object().and_then(JsFunction::from_object) {
        Some(function) => function.call(&JsValue::undefined(), args, context),
        None => Err(boa_engine::JsNativeError::typ()
            .with_message("not a function")
            .into()),
    }
}

/// The names of an object's own enumerable properties.
pub(crate) fn object_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let keys = services(context).keys.clone();
    let names = call(&keys, &[object.clone().into()], context)?;
    let Some(names) = names.as_object() else {
        return Ok(Vec::new());
    };
    let length = names
        .get(js_string!("length"), context)?
        .to_length(context)?;
    (0..length)
        .map(|index| names.get(index, context)?.to_string(context))
        .collect()
}

/// A new plain object.
pub(crate) fn object(context: &Context) -> JsObject {
    JsObject::with_object_proto(context.intrinsics())
}

/// Whether the engine accepts a program; it knows rules that the parser of types does not.
pub(crate) fn check(program: &Program) -> Result<(), Fault> {
    let mut interner = Interner::default();
    let mut parser = Parser::new(Source::from_bytes(program.text.as_bytes()));
    let scope = Scope::new_global();
    let outcome = match program.kind {
        Kind::Script => parser.parse_script(&scope, &mut interner).map(drop),
        Kind::Module { .. } => parser.parse_module(&scope, &mut interner).map(drop),
    };
    outcome.map_err(|error| syntax_fault(&error.to_string(), error_line(&error)))
}

fn error_line(error: &parser::Error) -> Option<u32> {
    match error {
        parser::Error::Expected { span, .. } | parser::Error::Unexpected { span, .. } => {
            Some(span.start().line_number())
        }
        parser::Error::General { position, .. }
        | parser::Error::Lex {
            err: lexer::Error::Syntax(_, position),
        } => Some(position.line_number()),
        parser::Error::AbruptEnd
        | parser::Error::Lex { .. }
        | parser::Error::ScopeAnalysis { .. } => None,
    }
}

fn file_name(language: Language) -> &'static str {
    match language {
        Language::Typescript => "tool.ts",
        Language::Javascript | Language::Python => "tool.js",
    }
}
