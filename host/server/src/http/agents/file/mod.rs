//! Agents as files: [`export`], out; [`import`], in. `form`: what comes with a file.

pub(crate) mod export;
mod form;
pub(crate) mod import;

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::error::{self, Rejection};

/// Files that are in memory at once on their way in, and as many on their way out, until their last
/// byte was taken; further ones wait for a moment.
const AT_ONCE: usize = 2;
/// How long one waits.
const WAIT: Duration = Duration::from_secs(30);

/// A place in memory for one file.
async fn slot(places: &'static Semaphore) -> Result<SemaphorePermit<'static>, Rejection> {
    let busy = || {
        let text = "too many agent files are being read or written at once; try again in a moment";
        Rejection::with(&error::OVERLOADED, text)
    };
    let free = tokio::time::timeout(WAIT, places.acquire()).await;
    // The semaphore is never closed.
    free.map_err(|_| busy())?.map_err(|_| busy())
}
