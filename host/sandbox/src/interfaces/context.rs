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

    async fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.breathe(message.len()).await;
        self.capture.log(level, &message);
        Ok(())
    }

    async fn progress(&mut self, message: String, done: Option<f32>) -> wasmtime::Result<()> {
        self.breathe(message.len()).await;
        self.capture.progress(&message, done);
        Ok(())
    }

    async fn emit(&mut self, part: types::Content) -> wasmtime::Result<()> {
        let bytes = match &part {
            types::Content::Text(text) => text.len(),
            types::Content::Blob(blob) => blob.data.len(),
            types::Content::Link(link) => link.uri.len(),
        };
        self.breathe(bytes).await;
        if self.capture.is_done_with_events() {
            return Ok(());
        }
        let part = self.context.authority.scrub_content(part.into());
        self.capture.emit(part);
        Ok(())
    }
}
