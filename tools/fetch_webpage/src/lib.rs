//! The built-in tool `fetch_webpage`: a page of the web as clean Markdown.
//!
//! Everything that touches the page's bytes happens in here, inside the sandbox: the host only
//! carries them. No step recurses, so that no page can exhaust the stack.
//!
//! - [`fetch`]: the request, and which answers are text.
//! - [`content_encoding`], [`media_type`], [`charset`]: from bytes to text.
//! - [`parse`], [`dom`]: from text to a tree.
//! - [`main_content`]: which part of the tree is worth reading.
//! - [`render`] with [`blocks`], [`spans`], [`table`], [`code_block`], [`link`]: from the tree to
//!   Markdown.
//! - [`page`]: all of it for one document, with its title.
//! - [`window`]: the part of a long text that fits.

use bulkhead_sdk::{Error, tool, tools};

mod blocks;
mod charset;
mod code_block;
mod content_encoding;
mod dom;
mod fetch;
mod link;
mod main_content;
mod media_type;
mod page;
mod parse;
mod render;
mod spans;
mod table;
mod window;

/// Fetch a webpage and convert it to markdown/text format.
///
/// Returns the title, the address after redirects, and the main content with its links. Text,
/// JSON and XML are returned as they are. Only http and https. A long page is cut at
/// max_characters, and a note at its end says how to read on.
#[tool(
    title = "Fetch a web page",
    read_only,
    idempotent,
    open_world,
    wishes(http("https://*", "http://*"))
)]
fn fetch_webpage(
    /// The URL of the webpage to fetch and convert
    url: String,
    /// How many characters of the page to return at most (500-200000). Defaults to 40000.
    #[default(window::DEFAULT_CHARACTERS)]
    #[schemars(range(min = window::MIN_CHARACTERS, max = window::MAX_CHARACTERS))]
    max_characters: u32,
    /// The character of the page to start from, to read on after a cut. Defaults to 0.
    #[default(0)]
    start: u32,
) -> Result<String, Error> {
    let limits = window::MIN_CHARACTERS..=window::MAX_CHARACTERS;
    if !limits.contains(&max_characters) {
        let message = format!("must be {} to {}", limits.start(), limits.end());
        return Err(Error::invalid("/max_characters", message));
    }
    let document = fetch::document(&url)?;
    let page = match document.kind {
        media_type::Kind::Html => page::from_html(&document.text, &document.url),
        media_type::Kind::Text => page::from_text(&document.text),
    };
    window::show(&page, &document, start, max_characters)
}

tools![fetch_webpage];
