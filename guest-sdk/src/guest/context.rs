//! Interface `context`.

use super::wit::context;
use crate::{Content, context::Level};

pub(crate) use context::{agent_id, call_id, idempotency_key, progress, remaining_ms};

pub(crate) fn emit(part: Content) {
    context::emit(&part.into());
}

pub(crate) fn log(level: Level, message: &str) {
    let level = match level {
        Level::Debug => context::Level::Debug,
        Level::Info => context::Level::Info,
        Level::Warn => context::Level::Warn,
        Level::Error => context::Level::Error,
    };
    context::log(level, message);
}
