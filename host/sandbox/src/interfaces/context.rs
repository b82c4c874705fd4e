//! `bulkhead:tool/context`: the call that is running. Always granted.

use super::wit::{context::Host, context::Level, types};
use crate::{LogLevel, state::CallState};

impl types::Host for CallState {}

impl Host for CallState {
    fn call_id(&mut self) -> wasmtime::Result<String> {
        Ok(self.context.call_id.to_string())
    }

    fn idempotency_key(&mut self) -> wasmtime::Result<String> {
        Ok(self.context.idempotency_key.as_ref().to_owned())
    }

    fn agent_id(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.context.agent_id.clone())
    }

    fn remaining_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(u64::try_from(self.context.remaining().as_millis()).unwrap_or(u64::MAX))
    }

    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.capture.log(level, &message);
        Ok(())
    }

    fn progress(&mut self, message: String, done: Option<f32>) -> wasmtime::Result<()> {
        self.capture.progress(&message, done);
        Ok(())
    }

    fn emit(&mut self, part: types::Content) -> wasmtime::Result<()> {
        let part = self.context.authority.scrub_content(part.into());
        self.capture.emit(part);
        Ok(())
    }
}
