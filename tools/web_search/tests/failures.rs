//! How a search fails, and what the caller is told.

mod support;

use bulkhead_sdk::{Error, Upstream, http, json, mock};
use support::{answer, by, found, search};

#[test]
fn without_a_provider_it_says_what_to_set_and_to_grant() {
    let (result, requests) = search(&[], json!({ "query": "x" }), found("{}"));
    let Err(Error::Failed(text)) = result else {
        panic!("{result:?}")
    };
    for part in [
        "BULKHEAD_TOOL_ENV_BULKHEAD_SEARCH_PROVIDER=tavily",
        "BULKHEAD_TOOL_ENV_BULKHEAD_SEARCH_URL",
        "tool credential set tavily --bearer --audience api.tavily.com",
        "tool grant web_search --env BULKHEAD_SEARCH_PROVIDER --credential tavily --allow-host api.tavily.com",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(requests.is_empty());
}

#[test]
fn a_configuration_that_makes_no_sense_is_named() {
    for (env, part) in [
        (vec![("BULKHEAD_SEARCH_PROVIDER", "altavista")], "altavista"),
        (
            vec![("BULKHEAD_SEARCH_PROVIDER", "searxng")],
            "BULKHEAD_SEARCH_URL is not set",
        ),
        (
            vec![("BULKHEAD_SEARCH_URL", "s.example")],
            "begins with http",
        ),
        (
            vec![("BULKHEAD_SEARCH_PROVIDER", "  ")],
            "no search provider",
        ),
    ] {
        let (result, requests) = search(&env, json!({ "query": "x" }), found("{}"));
        assert!(
            matches!(&result, Err(Error::Failed(text)) if text.contains(part)),
            "{result:?}"
        );
        assert!(requests.is_empty());
    }
}

#[test]
fn a_refused_key_is_unauthorized_and_names_its_credential() {
    for provider in ["tavily", "brave", "exa"] {
        for status in [401, 403] {
            let (result, _) = by(
                provider,
                json!({ "query": "x" }),
                answer(status, &[], "{\"error\": \"bad key\"}"),
            );
            let Err(Error::Unauthorized(text)) = result else {
                panic!("{result:?}")
            };
            assert!(
                text.contains(&format!("credential `{provider}`")) && text.contains("bad key"),
                "{text}"
            );
        }
    }
    let (result, _) = search(
        &[("BULKHEAD_SEARCH_URL", "https://s.example")],
        json!({ "query": "x" }),
        answer(403, &[], ""),
    );
    assert!(
        matches!(&result, Err(Error::Unauthorized(text)) if text.contains("search.formats")),
        "{result:?}"
    );
}

#[test]
fn a_credential_that_the_host_does_not_have_is_unauthorized() {
    let host = mock::Host::new()
        .env("BULKHEAD_SEARCH_PROVIDER", "exa")
        .http(|_| Err(http::Error::Unauthorized("no credential `exa`".to_owned())));
    let _host = host.install();
    let result = mock::call(
        tool_web_search::TOOLS,
        "web_search",
        json!({ "query": "x" }),
    );
    assert_eq!(
        result,
        Err(Error::Unauthorized("no credential `exa`".to_owned()))
    );
}

#[test]
fn a_busy_provider_says_when_to_come_back() {
    let date = [
        ("retry-after", "Wed, 21 Oct 2015 07:28:05 GMT"),
        ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
    ];
    for (status, headers, wait) in [
        (429, &[("Retry-After", "2")][..], Some(2_000)),
        (503, &date, Some(5_000)),
        (503, &date[..1], None),
        (500, &[], None),
        (422, &[], None),
    ] {
        let (result, _) = by(
            "tavily",
            json!({ "query": "x" }),
            answer(status, headers, "slow down"),
        );
        let expected = Upstream {
            status: Some(status),
            message: "tavily: slow down".to_owned(),
            retry_after_ms: wait,
            sent: true,
        };
        assert_eq!(result, Err(Error::Upstream(expected)));
    }
}

#[test]
fn an_answer_that_is_no_search_result_is_upstream() {
    for body in [
        "<html>",
        "",
        "[]",
        "{\"results\": 5}",
        "{\"results\": [{\"title\": \"no url\"}]}",
    ] {
        let (result, _) = by("exa", json!({ "query": "x" }), found(body));
        assert!(
            matches!(
                &result,
                Err(Error::Upstream(Upstream {
                    status: Some(200),
                    ..
                }))
            ),
            "{body}: {result:?}"
        );
    }
}

#[test]
fn every_problem_of_the_input_is_reported_at_its_place() {
    let input = json!({
        "query": "  ", "include_domains": ["ok.example", "not a domain"], "exclude_domains": [""],
        "start_published_date": "yesterday", "end_published_date": "2024-1-1", "user_location": "Germany",
    });
    let (result, requests) = by("exa", input, found("{}"));
    let Err(Error::InvalidInput(problems)) = result else {
        panic!("{result:?}")
    };
    let places: Vec<&str> = problems.iter().map(|problem| &*problem.at).collect();
    let expected = [
        "/query",
        "/include_domains/1",
        "/exclude_domains/0",
        "/start_published_date",
        "/end_published_date",
        "/user_location",
    ];
    assert_eq!(places, expected);
    assert!(requests.is_empty());
}

#[test]
fn a_category_that_does_not_exist_is_refused() {
    let (result, _) = by(
        "exa",
        json!({ "query": "x", "category": "recipes" }),
        found("{}"),
    );
    assert!(
        matches!(&result, Err(Error::InvalidInput(problems)) if problems[0].at == "/category"),
        "{result:?}"
    );
}

#[test]
fn the_schema_has_the_parameters_that_existing_agents_send() {
    let schema = tool_web_search::TOOLS[0].input_schema();
    assert_eq!(schema["required"], json!(["query"]));
    let mut names: Vec<&String> = schema["properties"]
        .as_object()
        .expect("properties")
        .keys()
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "category",
            "end_published_date",
            "exclude_domains",
            "include_domains",
            "include_text",
            "num_results",
            "query",
            "start_published_date",
            "user_location"
        ]
    );
    let category = schema["properties"]["category"].to_string();
    for name in [
        "company",
        "research paper",
        "news",
        "pdf",
        "github",
        "tweet",
        "personal site",
        "linkedin profile",
        "financial report",
    ] {
        assert!(category.contains(&format!("\"{name}\"")), "{category}");
    }
    assert_eq!(schema["properties"]["num_results"]["maximum"], 100);
    assert!(tool_web_search::TOOLS[0].output_schema().is_some());
}

#[test]
fn it_wishes_for_vendors_credentials_and_its_environment() {
    let wishes = tool_web_search::TOOLS[0].wishes();
    for part in [
        "api.tavily.com",
        "api.search.brave.com",
        "api.exa.ai",
        "\"tavily\"",
        "\"brave\"",
        "\"exa\"",
        "BULKHEAD_SEARCH_PROVIDER",
        "BULKHEAD_SEARCH_URL",
    ] {
        assert!(wishes.contains(part), "{wishes}");
    }
}
