//! What is said of imports while the program runs.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{
    Context, JsNativeError, JsResult, Module,
    module::{ModuleLoader, ModuleRequest, Referrer},
};

use crate::source::statement::no_module;

/// There are no modules but the program.
pub(super) struct NoModules;

impl ModuleLoader for NoModules {
    async fn load_imported_module(
        self: Rc<Self>,
        _referrer: Referrer,
        request: ModuleRequest,
        _context: &RefCell<&mut Context>,
    ) -> JsResult<Module> {
        let name = request.specifier().to_std_string_lossy();
        Err(JsNativeError::error().with_message(no_module(&name)).into())
    }
}
