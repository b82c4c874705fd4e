//! Runs that the agent loop itself begins: driven as those that clients begin in the background.

use std::sync::{Arc, Weak};

use bulkhead_agent::{Background, Begun, Outcome};
use serde_json::Value;

use crate::{
    app::App,
    http::messages::{answer, background, stream::Streaming, view::View},
};

/// Drives runs on a server.
pub(crate) struct ServerBackground(Weak<App>);

impl ServerBackground {
    /// Drives runs on this server, as long as it is there.
    pub(crate) fn of(app: &Arc<App>) -> Self {
        Self(Arc::downgrade(app))
    }
}

impl Background for ServerBackground {
    /// Its events are kept as those of any run in the background. Without a server the run is dropped,
    /// and stored as cancelled.
    fn drive(&self, begun: Begun) {
        let Some(app) = self.0.upgrade() else {
            return;
        };
        let how = Streaming {
            view: View::default(),
            include_pings: true,
            background: true,
        };
        // Noted before anybody can look for it.
        let recording = app.recordings.begin(begun.id());
        app.tasks.clone().spawn(async move {
            background::record(&app, begun, how, recording).await;
        });
    }

    fn result(&self, outcome: &Outcome) -> Value {
        answer::response(outcome, &View::default())
    }
}
