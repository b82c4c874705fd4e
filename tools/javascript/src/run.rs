//! A script that is no tool.

use std::rc::Rc;

use boa_engine::{JsResult, JsValue};
use oxc_allocator::Allocator;

use crate::{
    abi::{Environment, Execution, Fault, Source},
    engine::Engine,
    host::Host,
    outcome::{failed, faulty, returned},
    source::{
        parse::parse,
        program::{Aim, Program},
    },
};

/// Runs a script, its promises and its timers, for the value of its last expression.
pub fn run(source: &Source, environment: &Environment, host: Rc<dyn Host>) -> Execution {
    let program = match program(source) {
        Ok(program) => program,
        Err(fault) => return faulty(fault),
    };
    crate::call::with_engine(source.language, environment, host, |engine| {
        match value(engine, &program) {
            Ok(value) => returned(&value, true, source, engine),
            Err(error) => failed(error, source, engine),
        }
    })
}

fn program(source: &Source) -> Result<Program, Fault> {
    let allocator = Allocator::default();
    Program::new(&parse(&allocator, source)?, &Aim::Value)
}

fn value(engine: &mut Engine, program: &Program) -> JsResult<JsValue> {
    let value = engine.evaluate(program)?;
    let value = engine.awaited(value)?;
    engine.finish()?;
    Ok(value)
}
