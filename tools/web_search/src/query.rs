//! What is searched for.

use bulkhead_sdk::JsonSchema;
use bulkhead_sdk::{Error, Problem};
use serde::Deserialize;

use crate::answer::Found;

/// Results if the caller names no number.
pub(crate) const DEFAULT_RESULTS: u32 = 10;
/// What the largest provider gives for one request.
pub(crate) const MAX_RESULTS: u32 = 100;
/// Characters of a query; the providers take 400 to 2,000.
const MAX_QUERY: usize = 2_000;
/// Domains in one list; more make a URL that servers refuse.
const MAX_DOMAINS: usize = 100;

/// A kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Category {
    Company,
    #[serde(rename = "research paper")]
    ResearchPaper,
    News,
    Pdf,
    Github,
    Tweet,
    #[serde(rename = "personal site")]
    PersonalSite,
    #[serde(rename = "linkedin profile")]
    LinkedinProfile,
    #[serde(rename = "financial report")]
    FinancialReport,
}

/// A query with its limits.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) text: String,
    pub(crate) results: u32,
    pub(crate) category: Option<Category>,
    pub(crate) include_text: bool,
    pub(crate) include_domains: Vec<String>,
    pub(crate) exclude_domains: Vec<String>,
    /// ISO date or time.
    pub(crate) since: Option<String>,
    /// ISO date or time.
    pub(crate) until: Option<String>,
    /// Two letters.
    pub(crate) country: Option<String>,
}

impl Category {
    /// The category as agents write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::ResearchPaper => "research paper",
            Self::News => "news",
            Self::Pdf => "pdf",
            Self::Github => "github",
            Self::Tweet => "tweet",
            Self::PersonalSite => "personal site",
            Self::LinkedinProfile => "linkedin profile",
            Self::FinancialReport => "financial report",
        }
    }
}

impl Query {
    /// The query in its normal form, or everything that is wrong with it. Empty dates and
    /// countries are none: models send them for "not set".
    pub(crate) fn checked(mut self) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let mut wrong = |at: &str, message: String| {
            problems.push(Problem {
                at: at.to_owned(),
                message,
            })
        };
        self.text = self.text.trim().to_owned();
        match self.text.chars().count() {
            0 => wrong("/query", "is empty".to_owned()),
            1..=MAX_QUERY => {}
            long => wrong(
                "/query",
                format!("has {long} characters; at most {MAX_QUERY} are searched for"),
            ),
        }
        self.results = self.results.clamp(1, MAX_RESULTS);
        for (at, domains) in [
            ("/include_domains", &mut self.include_domains),
            ("/exclude_domains", &mut self.exclude_domains),
        ] {
            if domains.len() > MAX_DOMAINS {
                wrong(at, format!("has more than {MAX_DOMAINS} domains"));
            }
            for (number, domain) in domains.iter_mut().enumerate() {
                match normal_domain(domain) {
                    Some(normal) => *domain = normal,
                    None => wrong(
                        &format!("{at}/{number}"),
                        "is no domain, such as example.com".to_owned(),
                    ),
                }
            }
        }
        for (at, date) in [
            ("/start_published_date", &mut self.since),
            ("/end_published_date", &mut self.until),
        ] {
            *date = date
                .take()
                .map(|date| date.trim().to_owned())
                .filter(|date| !date.is_empty());
            if date.as_deref().is_some_and(|date| day(date).is_none()) {
                wrong(at, "is no ISO date, such as 2025-01-31".to_owned());
            }
        }
        self.country = self
            .country
            .take()
            .map(|country| country.trim().to_ascii_uppercase());
        self.country = self.country.take().filter(|country| !country.is_empty());
        if self
            .country
            .as_deref()
            .is_some_and(|c| c.len() != 2 || !c.bytes().all(|b| b.is_ascii_alphabetic()))
        {
            wrong(
                "/user_location",
                "is no country code of two letters, such as US".to_owned(),
            );
        }
        if problems.is_empty() {
            Ok(self)
        } else {
            Err(Error::InvalidInput(problems))
        }
    }

    /// The query with the operators that search engines share, for those without fields for it.
    pub(crate) fn with_operators(&self) -> String {
        let mut text = self.text.clone();
        match self.category {
            Some(Category::Pdf) => text.push_str(" filetype:pdf"),
            // News has an index of its own; domains stand for other kinds.
            Some(Category::News) | None => {}
            Some(other) if site(other).is_none() => {
                text.push(' ');
                text.push_str(other.name());
            }
            Some(_) => {}
        }
        let sites = self.include_domains.iter().map(String::as_str).chain(
            self.category
                .and_then(site)
                .filter(|_| self.include_domains.is_empty()),
        );
        let sites: Vec<String> = sites.map(|domain| format!("site:{domain}")).collect();
        if !sites.is_empty() {
            text.push_str(&format!(" {}", sites.join(" OR ")));
        }
        for domain in &self.exclude_domains {
            text.push_str(&format!(" -site:{domain}"));
        }
        text
    }

    /// Drops what the provider found against the domains, and what is too much.
    pub(crate) fn keep_wanted(&self, results: &mut Vec<Found>) {
        results.retain(|found| {
            let host = host(&found.url);
            let is_in = |domains: &[String]| domains.iter().any(|domain| is_under(&host, domain));
            (self.include_domains.is_empty() || is_in(&self.include_domains))
                && !is_in(&self.exclude_domains)
        });
        results.truncate(usize::try_from(self.results).unwrap_or(usize::MAX));
    }
}

/// The one domain where things of a kind are.
pub(crate) fn site(category: Category) -> Option<&'static str> {
    match category {
        Category::Github => Some("github.com"),
        Category::Tweet => Some("x.com"),
        Category::LinkedinProfile => Some("linkedin.com"),
        _ => None,
    }
}

/// The day of an ISO date or time, if it is one.
pub(crate) fn day(date: &str) -> Option<&str> {
    let day = date.get(..10)?;
    let rest = &date[10..];
    let shape = day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    (shape && (rest.is_empty() || rest.starts_with(['T', ' ']))).then_some(day)
}

/// A domain as it stands in a URL, from what a model may write: a URL, `*.`, capitals.
fn normal_domain(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let text = text
        .strip_prefix("https://")
        .or(text.strip_prefix("http://"))
        .unwrap_or(&text);
    let domain = text
        .split('/')
        .next()
        .unwrap_or("")
        .trim_start_matches("*.")
        .trim_matches('.');
    let fits = !domain.is_empty()
        && domain.len() <= 253
        && domain
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
    fits.then(|| domain.to_owned())
}

/// The host of a URL, in lower case.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    host.split(':').next().unwrap_or("").to_ascii_lowercase()
}

fn is_under(host: &str, domain: &str) -> bool {
    host == domain
        || host
            .strip_suffix(domain)
            .is_some_and(|rest| rest.ends_with('.'))
}
