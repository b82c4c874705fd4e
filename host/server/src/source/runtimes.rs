//! The runtimes of languages.

use std::sync::Arc;

use bulkhead_sandbox::{Language, Runtime, Sandbox};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    heap,
    http::error::{self, Rejection},
};

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
        let bytes = match language {
            Language::Python => bulkhead_tools::PYTHON.map_err(no_python)?,
            Language::JavaScript | Language::TypeScript => bulkhead_tools::JAVASCRIPT,
        };
        let cell = self.cell(language);
        cell.get_or_try_init(|| async {
            let began = std::time::Instant::now();
            let runtime = sandbox.install_runtime(bytes).await?;
            tokio::task::spawn_blocking(heap::give_back);
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(?language, took_ms, digest = %runtime.digest(), "a runtime was installed");
            Ok(runtime)
        })
        .await
    }

    fn cell(&self, language: Language) -> &OnceCell<Runtime> {
        match language {
            Language::Python => &self.python,
            Language::JavaScript | Language::TypeScript => &self.javascript,
        }
    }
}

impl App {
    /// Waits until a language's runtime is installed, or can't be; false where `cancel` was first.
    /// What has begun to be compiled is compiled for the next call then.
    pub(crate) async fn wait_for_runtime(
        self: &Arc<Self>,
        language: Language,
        cancel: &CancellationToken,
    ) -> bool {
        if self.runtimes.cell(language).initialized() {
            return true;
        }
        let app = Arc::clone(self);
        let installed = tokio::spawn(async move {
            let runtime = app.runtimes.get(&app.sandbox, language).await;
            runtime.is_ok()
        });
        cancel.run_until_cancelled(installed).await.is_some()
    }
}

fn no_python(reason: &str) -> Rejection {
    let message = format!(
        "this build has no Python runtime: {}",
        reason.lines().next().unwrap_or_default()
    );
    Rejection::with(&error::NO_RUNTIME, message)
}
