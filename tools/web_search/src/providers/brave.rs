//! Brave Search: `GET /res/v1/web/search` and `/res/v1/news/search`, header `X-Subscription-Token`.

use bulkhead_sdk::Error;
use bulkhead_sdk::http;
use serde::Deserialize;

use super::{exchange, list, with_parameters};
use crate::answer::{Found, plain};
use crate::config::Provider;
use crate::query::{Category, Query, day};

/// The most that Brave gives for a web search.
const MAX_WEB: u32 = 20;
/// The most that Brave gives for a news search.
const MAX_NEWS: u32 = 50;
/// Words and characters that Brave takes; it refuses longer queries.
const MAX_WORDS: usize = 50;
const MAX_CHARACTERS: usize = 400;

#[derive(Deserialize)]
struct Web {
    web: Option<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default, deserialize_with = "list")]
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    title: Option<String>,
    url: String,
    description: Option<String>,
    page_age: Option<String>,
    #[serde(default, deserialize_with = "list")]
    extra_snippets: Vec<String>,
}

pub(super) fn search(base: &str, query: &Query) -> Result<Vec<Found>, Error> {
    let news = query.category == Some(Category::News);
    let request = http::get(url(base, query, news));
    let answer = if news {
        Some(exchange::<Answer>(Provider::Brave, request)?)
    } else {
        exchange::<Web>(Provider::Brave, request)?.web
    };
    let items = answer.map(|answer| answer.results).unwrap_or_default();
    let found = items.into_iter().map(|item| Found {
        title: plain(item.title),
        url: item.url,
        published_date: plain(item.page_age),
        highlights: item
            .extra_snippets
            .into_iter()
            .filter_map(|snippet| plain(Some(snippet)))
            .collect(),
        summary: plain(item.description),
        ..Found::default()
    });
    Ok(found.collect())
}

fn url(base: &str, query: &Query, news: bool) -> String {
    let path = if news { "news" } else { "web" };
    let words = shortened(&query.with_operators());
    let count = query
        .results
        .min(if news { MAX_NEWS } else { MAX_WEB })
        .to_string();
    let freshness = freshness(query);
    let mut parameters = vec![
        ("q", &*words),
        ("count", &*count),
        ("text_decorations", "false"),
    ];
    parameters.extend(query.country.as_deref().map(|country| ("country", country)));
    parameters.extend(
        freshness
            .as_deref()
            .map(|freshness| ("freshness", freshness)),
    );
    parameters.push(("extra_snippets", "true"));
    if !news {
        parameters.push(("result_filter", "web"));
    }
    with_parameters(&format!("{base}/res/v1/{path}/search"), &parameters)
}

/// The span of dates; Brave needs both ends, so an open one is far away.
fn freshness(query: &Query) -> Option<String> {
    let (since, until) = (
        query.since.as_deref().and_then(day),
        query.until.as_deref().and_then(day),
    );
    (since.is_some() || until.is_some()).then(|| {
        format!(
            "{}to{}",
            since.unwrap_or("1970-01-01"),
            until.unwrap_or("2099-12-31")
        )
    })
}

/// As many whole words as Brave takes.
fn shortened(text: &str) -> String {
    let mut out = String::new();
    let mut characters = 0;
    for word in text.split_whitespace().take(MAX_WORDS) {
        characters += word.chars().count() + 1;
        if characters > MAX_CHARACTERS + 1 && !out.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(MAX_CHARACTERS));
    }
    out
}
