//! Exa: `POST /search` with contents, header `x-api-key`.

use bulkhead_sdk::Error;
use bulkhead_sdk::http;
use serde::{Deserialize, Serialize};

use super::{exchange, list};
use crate::answer::{Found, text};
use crate::config::Provider;
use crate::query::Query;

/// Sentences of one highlight.
const HIGHLIGHT_SENTENCES: u32 = 2;
/// Highlights of one result.
const HIGHLIGHTS: u32 = 3;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Search<'a> {
    query: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    num_results: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    include_domains: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    exclude_domains: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    start_published_date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_published_date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_location: Option<&'a str>,
    contents: Contents<'a>,
}

#[derive(Serialize)]
struct Contents<'a> {
    text: bool,
    highlights: Highlights<'a>,
    summary: Summary,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Highlights<'a> {
    num_sentences: u32,
    highlights_per_url: u32,
    query: &'a str,
}

#[derive(Serialize)]
struct Summary {
    query: String,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default, deserialize_with = "list")]
    results: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    title: Option<String>,
    url: String,
    published_date: Option<String>,
    author: Option<String>,
    text: Option<String>,
    #[serde(default, deserialize_with = "list")]
    highlights: Vec<String>,
    summary: Option<String>,
}

pub(super) fn search(base: &str, query: &Query) -> Result<Vec<Found>, Error> {
    let body = Search {
        query: &query.text,
        kind: "auto",
        num_results: query.results,
        category: query.category.map(crate::query::Category::name),
        include_domains: &query.include_domains,
        exclude_domains: &query.exclude_domains,
        start_published_date: query.since.as_deref(),
        end_published_date: query.until.as_deref(),
        user_location: query.country.as_deref(),
        contents: Contents {
            text: query.include_text,
            highlights: Highlights {
                num_sentences: HIGHLIGHT_SENTENCES,
                highlights_per_url: HIGHLIGHTS,
                query: &query.text,
            },
            summary: Summary {
                query: format!(
                    "Summarize the key information from this content related to: {}",
                    query.text
                ),
            },
        },
    };
    let answer: Answer = exchange(
        Provider::Exa,
        http::post(format!("{base}/search")).json(&body),
    )?;
    let found = answer.results.into_iter().map(|item| Found {
        title: text(item.title),
        url: item.url,
        published_date: text(item.published_date),
        author: text(item.author),
        text: text(item.text).filter(|_| query.include_text),
        highlights: item
            .highlights
            .into_iter()
            .filter_map(|part| text(Some(part)))
            .collect(),
        summary: text(item.summary),
    });
    Ok(found.collect())
}
