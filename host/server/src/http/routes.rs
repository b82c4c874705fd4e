//! Handlers as one type.
//!
//! axum compiles a stack of its services for the type of every handler, and every function is a type
//! of its own. For some 270 of them that took half of the server's build. Here a handler becomes
//! [`Erased`] first, so that the stack is compiled once.

use std::{marker::PhantomData, pin::Pin};

use axum::{extract::Request, handler::Handler, response::Response};
use futures::future::BoxFuture;

use super::AppState;

/// What axum's handlers that are functions answer with.
type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler, whatever it extracts and answers.
#[derive(Clone, Copy)]
pub(crate) struct Erased(&'static (dyn Call + Send + Sync));

/// A handler of any type. A function has no size, so that nothing is allocated where one is leaked.
pub(crate) fn erased<H, T>(handler: H) -> Erased
where
    H: Handler<T, AppState, Future = Answer>,
    T: 'static,
{
    Erased(Box::leak(Box::new(Function(handler, PhantomData))))
}

trait Call {
    fn call(&self, request: Request, state: AppState) -> Answer;
}

struct Function<H, T>(H, PhantomData<fn() -> T>);

impl<H, T> Call for Function<H, T>
where
    H: Handler<T, AppState, Future = Answer>,
    T: 'static,
{
    fn call(&self, request: Request, state: AppState) -> Answer {
        self.0.clone().call(request, state)
    }
}

impl Handler<Erased, AppState> for Erased {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: AppState) -> Self::Future {
        self.0.call(request, state)
    }
}

/// As utoipa's macro of this name, for [`Erased`] handlers: variables of the handlers' names, beside
/// what `#[utoipa::path]` made of them.
macro_rules! routes {
    ($($first:ident $(:: $second:ident $(:: $third:ident)?)?),+ $(,)?) => {{
        $($crate::http::routes::name!($first $(:: $second $(:: $third)?)?);)+
        $crate::http::routes::routes!(@documented $([$first $($second $($third)?)?])+)
    }};
    (@documented $([$($part:ident)+])+) => {
        $crate::http::routes::routes!(@last [] $([$($part)+])+)
    };
    (@last [$($handler:ident)+]) => {
        utoipa_axum::routes!($($handler),+)
    };
    (@last [$($done:ident)*] [$handler:ident] $($rest:tt)*) => {
        $crate::http::routes::routes!(@last [$($done)* $handler] $($rest)*)
    };
    (@last [$($done:ident)*] [$module:ident $($part:ident)+] $($rest:tt)*) => {
        $crate::http::routes::routes!(@last [$($done)*] [$($part)+] $($rest)*)
    };
}

/// A variable of a handler's name, and what describes it.
macro_rules! name {
    ($handler:ident) => {
        let $handler = $crate::http::routes::erased($handler);
    };
    ($($module:ident)::+ @ $handler:ident) => {
        utoipa_axum::paste! {
            #[allow(unused_imports, reason = "it is looked up by the macro of utoipa")]
            use $($module)::+::[<__path_ $handler>];
        }
        let $handler = $crate::http::routes::erased($($module)::+::$handler);
    };
    ($module:ident :: $handler:ident) => {
        $crate::http::routes::name!($module @ $handler)
    };
    ($outer:ident :: $module:ident :: $handler:ident) => {
        $crate::http::routes::name!($outer::$module @ $handler)
    };
}

pub(crate) use {name, routes};
