//! Built-in tools that `bulkhead demo` shows: a few that work, one that asks for a grant, and two
//! that the host has to stop.

use bulkhead_sdk::{Error, Json, JsonSchema, Serialize, context, http, tool, tools};

/// Steps that `progress` reports at most: enough to watch, and far below the limit of events.
const MAX_STEPS: u32 = 100;

/// Bytes that `hoard` takes at a time.
const HOARD_STEP: usize = 1 << 20;

/// Greets someone by name.
#[tool(title = "Greet", read_only, idempotent)]
fn greet(
    /// Who to greet.
    #[schemars(length(min = 1, max = 100))]
    name: String,
) -> String {
    format!("Hello, {}!", name.trim())
}

/// What `word_count` counts.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Counts {
    /// Lines, the last one with or without its newline.
    lines: usize,
    /// Runs of letters between white space.
    words: usize,
    /// Characters, white space included.
    characters: usize,
}

/// Counts the lines, words and characters of a text.
#[tool(title = "Count words", read_only, idempotent)]
fn word_count(
    /// The text to count.
    text: String,
) -> Json<Counts> {
    Json(Counts {
        lines: text.lines().count(),
        words: text.split_whitespace().count(),
        characters: text.chars().count(),
    })
}

/// Fetches a web page and gives its title.
#[tool(
    title = "Title of a page",
    read_only,
    open_world,
    wishes(http("https://*", "http://*"))
)]
fn fetch_title(
    /// The page's address, with http:// or https://.
    url: String,
) -> Result<String, Error> {
    let page = http::get(url).send()?.error_for_status()?;
    title(&page.text()).ok_or_else(|| Error::not_found(format!("{} has no title", page.url)))
}

/// Loops until the host stops it.
#[tool(title = "Spin", read_only)]
fn spin() -> String {
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

/// Takes memory until the host stops it.
#[tool(title = "Hoard memory", read_only)]
fn hoard() -> String {
    let mut taken = Vec::new();
    loop {
        // Written to, so that the memory is really there.
        taken.push(vec![1_u8; HOARD_STEP]);
        std::hint::black_box(&taken);
    }
}

/// Works in steps and reports each of them.
#[tool(title = "Show progress", read_only, idempotent)]
fn progress(
    /// How many steps to take.
    #[default(3)]
    #[schemars(range(min = 1, max = 100))]
    steps: u32,
) -> Result<String, Error> {
    if !(1..=MAX_STEPS).contains(&steps) {
        return Err(Error::invalid(
            "/steps",
            format!("is not between 1 and {MAX_STEPS}"),
        ));
    }
    for step in 1..=steps {
        // Steps are few, so that a share needs no more precision than f32 has.
        context::progress(
            &format!("step {step} of {steps}"),
            Some(step as f32 / steps as f32),
        );
    }
    Ok(format!("took {steps} steps"))
}

tools![greet, word_count, fetch_title, spin, hoard, progress];

/// The text of the first `title` element.
fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower.get(start..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    let words = page.get(start..end)?.split_whitespace();
    Some(words.collect::<Vec<_>>().join(" ")).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use bulkhead_sdk::{
        http::Response,
        json,
        mock::{Host, call},
    };

    use super::*;

    fn page(body: &'static str) -> Host {
        Host::new().http(move |request| {
            Ok(Response {
                status: 200,
                url: request.url.clone(),
                body: body.into(),
                ..Response::default()
            })
        })
    }

    #[test]
    fn a_greeting_names_whom_it_greets() {
        assert_eq!(greet(" Ann ".to_owned()), "Hello, Ann!");
    }

    #[test]
    fn counts_are_structured_output_that_keeps_its_schema() {
        let output =
            call(TOOLS, "word_count", json!({ "text": "one two\nthree" })).expect("it counts");
        assert_eq!(
            output.structured,
            Some(json!({ "lines": 2, "words": 3, "characters": 13 }))
        );
        let schema = TOOLS[1].output_schema().expect("it promises a schema");
        assert_eq!(schema["required"], json!(["lines", "words", "characters"]));
    }

    #[test]
    fn a_title_is_found_in_any_case_and_its_space_collapsed() {
        let _host = page("<HTML><Title lang=en>\n A  page\n</TITLE>").install();
        assert_eq!(
            fetch_title("https://example.com".to_owned()),
            Ok("A page".to_owned())
        );
    }

    #[test]
    fn a_page_without_a_title_is_an_error_and_no_empty_text() {
        let _host = page("<title> </title>").install();
        assert!(matches!(
            fetch_title("https://example.com".to_owned()),
            Err(Error::NotFound(_))
        ));
    }

    #[test]
    fn without_a_grant_the_fetch_is_denied() {
        assert!(matches!(
            fetch_title("https://example.com".to_owned()),
            Err(Error::Denied(_))
        ));
    }

    #[test]
    fn every_step_is_reported_with_its_share() {
        let host = Host::new().install();
        call(TOOLS, "progress", json!({ "steps": 4 })).expect("four steps are few");
        let shares: Vec<_> = host
            .progress()
            .iter()
            .filter_map(|report| report.done)
            .collect();
        assert_eq!(shares, [0.25, 0.5, 0.75, 1.0]);
        call(TOOLS, "progress", json!({})).expect("steps have a default");
        assert_eq!(host.progress().len(), 4 + 3);
    }
}
