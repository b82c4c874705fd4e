//! The built-in tool `web_search`: a search of the web by a provider that the owner chose.
//!
//! The environment of the tool says which provider (see [`config`]); a person grants its host
//! and its credential, which the host adds to the request and the tool never sees. The
//! parameters are those that existing agents send; a provider that knows less of them gets what
//! it understands, and the domains are filtered here as well.
//!
//! - [`config`]: which provider, at which address.
//! - [`query`]: what is searched for.
//! - [`answer`]: what is found.
//! - [`providers`]: one file for each wire format.

use bulkhead_sdk::{Content, Error, IntoOutput, Json, Output, tool, tools};

mod answer;
mod config;
mod providers;
mod query;

use answer::Answer;
use query::{Category, Query};

/// What a search gives: the text that a model reads, which is the JSON of the answer, and the
/// answer itself.
struct Found(Answer);

impl IntoOutput for Found {
    fn into_output(self) -> Result<Output, Error> {
        let structured = bulkhead_sdk::serde_json::to_value(&self.0)?;
        let text = bulkhead_sdk::serde_json::to_string_pretty(&self.0)?;
        Ok(Output {
            content: vec![Content::text(text)],
            structured: Some(structured),
        })
    }

    fn output_schema() -> Option<bulkhead_sdk::serde_json::Value> {
        <Json<Answer> as IntoOutput>::output_schema()
    }
}

/// Search the web and retrieve relevant content.
///
/// Examples:
/// web_search("Tesla Q1 2025 earnings report", num_results=5, category="financial report")
/// web_search("Latest research in large language models", category="research paper", include_domains=["arxiv.org"])
///
/// Returns a JSON-encoded string with the title, URL and content of each result.
#[tool(
    title = "Search the web",
    read_only,
    open_world,
    wishes(
        // Any host is SearXNG: it runs where its owner put it, behind the default ports.
        http(
            "https://api.tavily.com",
            "https://api.search.brave.com",
            "https://api.exa.ai",
            "https://*",
            "http://*"
        ),
        credentials("tavily", "brave", "exa"),
        env("BULKHEAD_SEARCH_PROVIDER", "BULKHEAD_SEARCH_URL")
    )
)]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters of the tool, as agents know them"
)]
fn web_search(
    /// The search query to find relevant web content.
    query: String,
    /// Number of results to return (1-100). Defaults to 10.
    #[default(query::DEFAULT_RESULTS)]
    #[schemars(range(min = 1, max = query::MAX_RESULTS))]
    num_results: u32,
    /// Focus search on specific content types. Defaults to None.
    category: Option<Category>,
    /// Whether to retrieve full page content. Defaults to False (only returns summary and highlights, since the full text usually will overflow the context window).
    #[default(false)]
    include_text: bool,
    /// List of domains to include in search results. Defaults to None.
    include_domains: Option<Vec<String>>,
    /// List of domains to exclude from search results. Defaults to None.
    exclude_domains: Option<Vec<String>>,
    /// Only return content published after this date (ISO format). Defaults to None.
    start_published_date: Option<String>,
    /// Only return content published before this date (ISO format). Defaults to None.
    end_published_date: Option<String>,
    /// Two-letter country code for localized results (e.g., "US"). Defaults to None.
    user_location: Option<String>,
) -> Result<Found, Error> {
    let query = Query {
        text: query,
        results: num_results,
        category,
        include_text,
        include_domains: include_domains.unwrap_or_default(),
        exclude_domains: exclude_domains.unwrap_or_default(),
        since: start_published_date,
        until: end_published_date,
        country: user_location,
    }
    .checked()?;
    let config = config::Config::read()?;
    let mut results = providers::search(&config, &query)?;
    query.keep_wanted(&mut results);
    Ok(Found(Answer {
        query: query.text,
        results,
    }))
}

tools![web_search];
