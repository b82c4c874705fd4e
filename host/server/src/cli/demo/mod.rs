//! `bulkhead demo`: what this is, in a minute, without network and keys.

mod agent;
mod calls;
mod column;
mod sources;
mod story;
mod transcript;
mod website;
mod wider;

use clap::Args;

use self::{story::Story, website::Website};
use super::{
    client::Client, error::CliError, exit::Exit, runtime_cache::RuntimeCache, screen::Screen,
};
use crate::{Config, Server};

const NOTES: &str = "\
Starts a server on a free port with a temporary folder, pushes tools, calls them over HTTP, lets an
agent call some, and cleans up. The agent's model is an offline script, so that nothing needs a
network or a key. Of what it makes, the compiled language runtimes alone are kept, in the user's
cache folder. Ends with 0 if every step went as told, else with 1.";

/// Watch tools being granted, denied, stopped and accounted for, then an agent that calls them
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct DemoArgs {}

pub(crate) async fn demo(_: DemoArgs, screen: Screen) -> Result<Exit, CliError> {
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::host("no temporary folder could be made", error))?;
    // Without a cache everything goes the same way and takes longer.
    if let Ok(Some(cache)) = RuntimeCache::open()
        && let Err(error) = cache.lend_to(folder.path())
    {
        tracing::debug!(%error, "the compiled runtimes are not kept");
    }
    let mut config = Config::new(folder.path());
    config.listen = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
    config.builtin_tools = false;
    let server = Server::start(config)
        .await
        .map_err(|error| CliError::host("the demo's server could not be started", error))?;
    let base = server.url();
    let mut play = Play {
        client: Client::at(&base, None)?,
        website: Website::start().await?,
        story: Story::new(screen),
    };
    let played = play.all(&base).await;
    let good = play.story.finish();
    server
        .shutdown()
        .await
        .map_err(|error| CliError::host("the server ended badly", error))?;
    played?;
    Ok(if good { Exit::Done } else { Exit::ToolFailed })
}

/// Both acts, on one server.
struct Play {
    client: Client,
    website: Website,
    story: Story,
}

impl Play {
    async fn all(&mut self, base: &str) -> Result<(), CliError> {
        self.story.act("Tools in sandboxes");
        self.story.doing(&format!(
            "A server listens at {base}, with everything in a temporary folder."
        ));
        self.call_tools().await?;
        self.story.act("An agent that calls them");
        self.talk().await
    }
}
