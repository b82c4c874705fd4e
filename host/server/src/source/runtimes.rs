//! The runtimes of languages.

use bulkhead_sandbox::{Language, Runtime, Sandbox};
use tokio::sync::OnceCell;

use crate::http::error::{self, Rejection};

/// The runtimes, each installed when it is first needed: a server whose tools are components
/// never holds them in memory.
#[derive(Default)]
pub(crate) struct Runtimes {
    python: OnceCell<Runtime>,
    javascript: OnceCell<Runtime>,
}

impl Runtimes {
    /// The runtime of a language; the first that asks waits until it is installed. A failure is
    /// not kept.
    pub(crate) async fn get(
        &self,
        sandbox: &Sandbox,
        language: Language,
    ) -> Result<&Runtime, Rejection> {
        let (cell, bytes) = match language {
            Language::Python => (&self.python, bulkhead_tools::PYTHON.map_err(no_python)?),
            Language::JavaScript | Language::TypeScript => {
                (&self.javascript, bulkhead_tools::JAVASCRIPT)
            }
        };
        cell.get_or_try_init(|| async {
            let began = std::time::Instant::now();
            let runtime = sandbox.install_runtime(bytes).await?;
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(?language, took_ms, digest = %runtime.digest(), "a runtime was installed");
            Ok(runtime)
        })
        .await
    }
}

fn no_python(reason: &str) -> Rejection {
    let message = format!(
        "this build has no Python runtime: {}",
        reason.lines().next().unwrap_or_default()
    );
    Rejection::with(&error::NO_RUNTIME, message)
}
