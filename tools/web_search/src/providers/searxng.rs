//! SearXNG: `GET /search?format=json`, pages of some ten to thirty results.

use bulkhead_sdk::Error;
use bulkhead_sdk::http;
use serde::Deserialize;

use super::{exchange, list, with_parameters};
use crate::answer::{Found, text};
use crate::config::Provider;
use crate::query::{Category, Query};

/// Pages that are asked for at most; each is a search by all engines behind it.
const MAX_PAGES: u32 = 5;

#[derive(Deserialize)]
struct Answer {
    #[serde(default, deserialize_with = "list")]
    results: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
    published_date: Option<String>,
    author: Option<String>,
}

pub(super) fn search(base: &str, query: &Query) -> Result<Vec<Found>, Error> {
    let wanted = usize::try_from(query.results).unwrap_or(usize::MAX);
    let mut found: Vec<Found> = Vec::new();
    for page in 1..=MAX_PAGES {
        let answer = match exchange::<Answer>(Provider::Searxng, http::get(url(base, query, page)))
        {
            Ok(answer) => answer,
            // What was found already is better than nothing.
            Err(_) if !found.is_empty() => break,
            Err(error) => return Err(error),
        };
        let before = found.len();
        for item in answer.results {
            let Some(url) = item.url.filter(|url| !url.is_empty()) else {
                continue;
            };
            if found.iter().all(|one| one.url != url) {
                found.push(Found {
                    title: text(item.title),
                    url,
                    published_date: text(item.published_date),
                    author: text(item.author),
                    summary: text(item.content),
                    ..Found::default()
                });
            }
        }
        if found.len() >= wanted || found.len() == before {
            break;
        }
    }
    Ok(found)
}

fn url(base: &str, query: &Query, page: u32) -> String {
    let (text, page) = (query.with_operators(), page.to_string());
    let mut parameters = vec![("q", &*text), ("format", "json"), ("pageno", &*page)];
    let category = match query.category {
        Some(Category::News) => Some("news"),
        Some(Category::ResearchPaper) => Some("science"),
        _ => None,
    };
    parameters.extend(category.map(|category| ("categories", category)));
    // SearXNG knows languages, not countries, but for `all` and region.
    let region = query.country.as_deref().and_then(language);
    parameters.extend(region.map(|region| ("language", region)));
    with_parameters(&format!("{base}/search"), &parameters)
}

/// The locale of a country whose language is not in doubt.
fn language(country: &str) -> Option<&'static str> {
    Some(match country {
        "US" => "en-US",
        "GB" => "en-GB",
        "AU" => "en-AU",
        "IE" => "en-IE",
        "NZ" => "en-NZ",
        "DE" => "de-DE",
        "AT" => "de-AT",
        "FR" => "fr-FR",
        "IT" => "it-IT",
        "ES" => "es-ES",
        "MX" => "es-MX",
        "AR" => "es-AR",
        "PT" => "pt-PT",
        "BR" => "pt-BR",
        "NL" => "nl-NL",
        "PL" => "pl-PL",
        "SE" => "sv-SE",
        "DK" => "da-DK",
        "NO" => "nb-NO",
        "FI" => "fi-FI",
        "CZ" => "cs-CZ",
        "TR" => "tr-TR",
        "JP" => "ja-JP",
        "KR" => "ko-KR",
        "CN" => "zh-CN",
        "TW" => "zh-TW",
        _ => return None,
    })
}
