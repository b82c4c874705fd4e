//! Tavily: `POST /search` with a bearer token.

use bulkhead_sdk::Error;
use bulkhead_sdk::http;
use serde::{Deserialize, Serialize};

use super::{exchange, list};
use crate::answer::{Found, text};
use crate::config::Provider;
use crate::query::{Category, Query, day, site};

/// The most that Tavily gives.
const MAX_RESULTS: u32 = 20;

#[derive(Serialize)]
struct Search<'a> {
    query: String,
    max_results: u32,
    topic: &'static str,
    search_depth: &'static str,
    include_raw_content: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include_domains: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    exclude_domains: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<&'static str>,
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
    content: Option<String>,
    raw_content: Option<String>,
    published_date: Option<String>,
}

pub(super) fn search(base: &str, query: &Query) -> Result<Vec<Found>, Error> {
    let request = http::post(format!("{base}/search")).json(&body(query));
    let answer: Answer = exchange(Provider::Tavily, request)?;
    let found = answer.results.into_iter().map(|item| Found {
        title: text(item.title),
        url: item.url,
        published_date: text(item.published_date),
        text: text(item.raw_content).filter(|_| query.include_text),
        summary: text(item.content),
        ..Found::default()
    });
    Ok(found.collect())
}

fn body(query: &Query) -> Search<'_> {
    let mut include_domains: Vec<&str> = query.include_domains.iter().map(String::as_str).collect();
    let mut words = query.text.clone();
    let topic = match query.category {
        Some(Category::News) => "news",
        Some(Category::FinancialReport) => "finance",
        Some(category) => {
            match site(category) {
                Some(site) if include_domains.is_empty() => include_domains.push(site),
                Some(_) => {}
                // A kind that Tavily does not know is a word of the query.
                None => {
                    words.push(' ');
                    words.push_str(category.name());
                }
            }
            "general"
        }
        None => "general",
    };
    Search {
        query: words,
        max_results: query.results.min(MAX_RESULTS),
        topic,
        search_depth: "basic",
        include_raw_content: query.include_text,
        include_domains,
        exclude_domains: &query.exclude_domains,
        start_date: query.since.as_deref().and_then(day),
        end_date: query.until.as_deref().and_then(day),
        // Tavily takes countries for general searches only.
        country: query
            .country
            .as_deref()
            .filter(|_| topic == "general")
            .and_then(country),
    }
}

/// The name by which Tavily knows a country; for those not listed the search is not localised.
fn country(code: &str) -> Option<&'static str> {
    Some(match code {
        "US" => "united states",
        "GB" => "united kingdom",
        "CA" => "canada",
        "AU" => "australia",
        "NZ" => "new zealand",
        "IE" => "ireland",
        "IN" => "india",
        "DE" => "germany",
        "AT" => "austria",
        "CH" => "switzerland",
        "FR" => "france",
        "BE" => "belgium",
        "NL" => "netherlands",
        "IT" => "italy",
        "ES" => "spain",
        "PT" => "portugal",
        "BR" => "brazil",
        "MX" => "mexico",
        "AR" => "argentina",
        "CL" => "chile",
        "CO" => "colombia",
        "PL" => "poland",
        "CZ" => "czech republic",
        "SE" => "sweden",
        "NO" => "norway",
        "DK" => "denmark",
        "FI" => "finland",
        "GR" => "greece",
        "TR" => "turkey",
        "IL" => "israel",
        "ZA" => "south africa",
        "JP" => "japan",
        "KR" => "south korea",
        "CN" => "china",
        "TW" => "taiwan",
        "SG" => "singapore",
        _ => return None,
    })
}
