//! Interface `context`.

use super::with;
use crate::{
    Content,
    context::Level,
    mock::{LogLine, Progress},
};

pub(crate) fn call_id() -> String {
    with(|host| host.call_id.clone())
}

pub(crate) fn idempotency_key() -> String {
    with(|host| host.idempotency_key.clone())
}

pub(crate) fn agent_id() -> Option<String> {
    with(|host| host.agent_id.clone())
}

pub(crate) fn remaining_ms() -> u64 {
    with(|host| host.remaining_ms)
}

pub(crate) fn progress(message: &str, done: Option<f32>) {
    let report = Progress {
        message: message.to_owned(),
        done,
    };
    with(|host| host.seen.progress.push(report));
}

pub(crate) fn emit(part: Content) {
    with(|host| host.seen.emitted.push(part));
}

pub(crate) fn log(level: Level, message: &str) {
    let line = LogLine {
        level,
        message: message.to_owned(),
    };
    with(|host| host.seen.logs.push(line));
}
