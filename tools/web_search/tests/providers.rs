//! Each provider's wire format: what is sent, and what is made of the answer.

mod support;

use bulkhead_sdk::http::Request;
use bulkhead_sdk::serde_json::{self, Value};
use bulkhead_sdk::{Error, Output, json};
use support::{by, found, search};

const TAVILY: &str = include_str!("fixtures/tavily.json");
const SEARXNG: &str = include_str!("fixtures/searxng.json");
const BRAVE_WEB: &str = include_str!("fixtures/brave_web.json");
const BRAVE_NEWS: &str = include_str!("fixtures/brave_news.json");
const EXA: &str = include_str!("fixtures/exa.json");

/// The input of a search that uses every parameter.
fn everything() -> Value {
    json!({
        "query": "tide pools", "num_results": 3, "category": "news", "include_text": true,
        "include_domains": ["https://Wikipedia.org/", "*.shore.example"], "exclude_domains": ["bad.example"],
        "start_published_date": "2024-01-01", "end_published_date": "2024-12-31T00:00:00Z", "user_location": "us",
    })
}

/// The body of a request as JSON.
fn body(request: &Request) -> Value {
    serde_json::from_slice(request.body.as_deref().expect("a body")).expect("JSON")
}

/// The structured output, which the text repeats.
fn structured(result: Result<Output, Error>) -> Value {
    let output = result.expect("an answer");
    let structured = output.structured.clone().expect("structured output");
    assert_eq!(
        serde_json::from_str::<Value>(&output.text()).expect("JSON"),
        structured
    );
    structured
}

#[test]
fn exa_gets_every_parameter_in_its_own_names() {
    let (result, requests) = by("exa", everything(), found(EXA));
    let request = &requests[0];
    assert_eq!(
        (&*request.method, &*request.url),
        ("POST", "https://api.exa.ai/search")
    );
    assert_eq!(request.credential.as_deref(), Some("exa"));
    assert_eq!(
        body(request),
        json!({
            "query": "tide pools", "type": "auto", "numResults": 3, "category": "news",
            "includeDomains": ["wikipedia.org", "shore.example"], "excludeDomains": ["bad.example"],
            "startPublishedDate": "2024-01-01", "endPublishedDate": "2024-12-31T00:00:00Z", "userLocation": "US",
            "contents": {
                "text": true,
                "highlights": {"numSentences": 2, "highlightsPerUrl": 3, "query": "tide pools"},
                "summary": {"query": "Summarize the key information from this content related to: tide pools"},
            },
        })
    );
    assert_eq!(
        structured(result),
        json!({"query": "tide pools", "results": [
            {"title": "Tide pool", "url": "https://en.wikipedia.org/wiki/Tide_pool", "published_date": "2024-05-02T00:00:00.000Z",
             "author": "Ann Marsh", "text": "Whole page.", "highlights": ["A shallow pool.", "Crabs live there."], "summary": "What a tide pool is."},
            {"title": null, "url": "https://shore.example/pools", "published_date": null, "author": null},
        ]})
    );
}

#[test]
fn text_is_left_out_unless_it_was_asked_for() {
    for (provider, answer) in [("exa", EXA), ("tavily", TAVILY)] {
        let (result, requests) = by(provider, json!({ "query": "x" }), found(answer));
        assert_eq!(structured(result)["results"][0].get("text"), None);
        assert_eq!(requests.len(), 1);
    }
}

#[test]
fn tavily_gets_a_topic_dates_and_domains() {
    let (result, requests) = by("tavily", everything(), found(TAVILY));
    let request = &requests[0];
    assert_eq!(
        (&*request.method, &*request.url),
        ("POST", "https://api.tavily.com/search")
    );
    assert_eq!(request.credential.as_deref(), Some("tavily"));
    assert_eq!(
        body(request),
        json!({
            "query": "tide pools", "max_results": 3, "topic": "news", "search_depth": "basic", "include_raw_content": true,
            "include_domains": ["wikipedia.org", "shore.example"], "exclude_domains": ["bad.example"],
            "start_date": "2024-01-01", "end_date": "2024-12-31",
        })
    );
    let found = structured(result);
    assert_eq!(found["results"][0]["text"], "# Tide pool\n\nWhole page.");
    assert_eq!(
        found["results"][0]["summary"],
        "A tide pool is a shallow pool of seawater."
    );
    assert_eq!(
        found["results"][1]["published_date"],
        "Thu, 02 May 2024 08:00:00 GMT"
    );
}

#[test]
fn tavily_gets_no_more_results_than_it_gives_and_a_country_by_name() {
    let input =
        json!({ "query": "x", "num_results": 100, "user_location": "de", "category": "github" });
    let (_, requests) = by("tavily", input, found(TAVILY));
    let body = body(&requests[0]);
    assert_eq!(
        (&body["max_results"], &body["country"]),
        (&json!(20), &json!("germany"))
    );
    assert_eq!(body["include_domains"], json!(["github.com"]));
}

#[test]
fn brave_gets_operators_and_a_span_of_dates() {
    let input = json!({
        "query": "tide & pools", "num_results": 100, "category": "pdf", "user_location": "US",
        "include_domains": ["wikipedia.org"], "exclude_domains": ["bad.example"], "start_published_date": "2024-01-01",
    });
    let (result, requests) = by("brave", input, found(BRAVE_WEB));
    let request = &requests[0];
    assert_eq!(request.method, "GET");
    assert_eq!(request.credential.as_deref(), Some("brave"));
    assert_eq!(
        request.url,
        "https://api.search.brave.com/res/v1/web/search?q=tide+%26+pools+filetype%3Apdf+site%3Awikipedia.org+-site%3Abad.example\
         &count=20&text_decorations=false&country=US&freshness=2024-01-01to2099-12-31&extra_snippets=true&result_filter=web"
    );
    assert_eq!(
        structured(result)["results"],
        json!([{"title": "Tide pool - Wikipedia", "url": "https://en.wikipedia.org/wiki/Tide_pool",
            "published_date": "2024-05-02T10:00:00", "author": null,
            "highlights": ["Crabs \"live\" there."], "summary": "A tide pool is a shallow pool & more."}])
    );
}

#[test]
fn brave_has_an_index_of_its_own_for_news() {
    let (result, requests) = by(
        "brave",
        json!({ "query": "tide", "category": "news" }),
        found(BRAVE_NEWS),
    );
    assert!(
        requests[0]
            .url
            .starts_with("https://api.search.brave.com/res/v1/news/search?q=tide&count=10&"),
        "{}",
        requests[0].url
    );
    assert_eq!(
        structured(result)["results"][0]["title"],
        "Low tide at noon"
    );
}

#[test]
fn brave_never_gets_a_query_that_is_too_long_for_it() {
    let (_, requests) = by(
        "brave",
        json!({ "query": "word ".repeat(300) }),
        found(BRAVE_WEB),
    );
    let words = requests[0]
        .url
        .split("q=")
        .nth(1)
        .and_then(|rest| rest.split('&').next())
        .expect("a query");
    assert_eq!(words.split('+').count(), 50);
}

#[test]
fn searxng_is_asked_at_the_configured_address_without_a_credential() {
    let env = [
        ("BULKHEAD_SEARCH_PROVIDER", "SearXNG"),
        ("BULKHEAD_SEARCH_URL", "http://localhost:8888/sub/"),
    ];
    let input = json!({ "query": "tide pools", "num_results": 2, "category": "research paper", "user_location": "DE" });
    let (result, requests) = search(&env, input, found(SEARXNG));
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].credential, None);
    assert_eq!(
        requests[0].url,
        "http://localhost:8888/sub/search?q=tide+pools+research+paper&format=json&pageno=1&categories=science&language=de-DE"
    );
    assert_eq!(
        structured(result)["results"],
        json!([
            {"title": "Tide pool - Wikipedia", "url": "https://en.wikipedia.org/wiki/Tide_pool", "published_date": null, "author": null,
             "summary": "A tide pool is a shallow pool of seawater."},
            {"title": "Pools", "url": "https://shore.example/pools", "published_date": "2024-05-02T00:00:00", "author": "Ann"},
        ])
    );
}

#[test]
fn searxng_is_asked_for_further_pages_until_nothing_new_comes() {
    let (result, requests) = search(
        &[("BULKHEAD_SEARCH_URL", "https://s.example")],
        json!({ "query": "x" }),
        found(SEARXNG),
    );
    assert_eq!(requests.len(), 2);
    assert!(requests[1].url.contains("pageno=2"));
    assert_eq!(
        structured(result)["results"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn what_a_provider_finds_against_the_domains_is_dropped() {
    let input = json!({ "query": "x", "exclude_domains": ["wikipedia.org"] });
    let (result, _) = by("exa", input, found(EXA));
    let found = structured(result);
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["results"][0]["url"], "https://shore.example/pools");
}

#[test]
fn every_vendor_can_be_asked_at_another_address() {
    for (provider, answer) in [("exa", EXA), ("tavily", TAVILY), ("brave", BRAVE_WEB)] {
        let env = [
            ("BULKHEAD_SEARCH_PROVIDER", provider),
            ("BULKHEAD_SEARCH_URL", "http://127.0.0.1:9/p"),
        ];
        let (result, requests) = search(&env, json!({ "query": "x" }), found(answer));
        structured(result);
        assert!(
            requests[0].url.starts_with("http://127.0.0.1:9/p/"),
            "{}",
            requests[0].url
        );
    }
}

#[test]
fn an_answer_without_results_is_an_empty_list() {
    for (provider, answer) in [
        ("exa", "{\"results\": null}"),
        ("tavily", "{}"),
        ("brave", "{\"type\": \"search\"}"),
    ] {
        let (result, _) = by(provider, json!({ "query": "x" }), found(answer));
        assert_eq!(structured(result), json!({ "query": "x", "results": [] }));
    }
}
