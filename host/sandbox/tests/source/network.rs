//! Requests of source leave by grants alone.

use bulkhead_domain::{HostCallOutcome, Outcome};
use bulkhead_policy::Limits;
use serde_json::json;

use crate::{common::*, site};

const REQUESTS: &str =
    "import requests\ndef t(url: str):\n    return requests.get(url, timeout=5).text\n";
const URLLIB: &str = "import urllib.request\ndef t(url: str):\n    return urllib.request.urlopen(url, timeout=5).read().decode()\n";
const HTTPX: &str = "import httpx\ndef t(url: str):\n    return httpx.get(url, timeout=5).text\n";
const CLIENT: &str = "import http.client, urllib.parse\ndef t(url: str):\n    parts = urllib.parse.urlsplit(url)\n    connection = http.client.HTTPConnection(parts.netloc)\n    connection.request('GET', parts.path or '/')\n    return connection.getresponse().read().decode()\n";
const FETCH: &str = "async function t(url) { return await (await fetch(url)).text() }";

fn tools() -> Vec<(&'static str, Tool)> {
    let mut tools = vec![("fetch", Tool::javascript(FETCH))];
    if has_python() {
        let python = [
            ("requests", REQUESTS),
            ("urllib", URLLIB),
            ("httpx", HTTPX),
            ("http.client", CLIENT),
        ];
        tools.extend(python.map(|(name, text)| (name, Tool::python(text))));
    }
    tools
}

#[tokio::test]
async fn a_granted_host_is_reached_and_the_receipt_says_so() {
    let base = format!("http://{}", site::serve().await);
    for (name, tool) in tools() {
        let report = tool
            .granted(json!({"http": [base]}))
            .call(json!({"url": format!("{base}/about")}))
            .await;
        let receipt = report.report.receipt.clone();
        assert_eq!(value(report), json!("Über uns"), "{name}");
        assert_eq!(
            receipt.host_calls.len(),
            1,
            "{name}: {:?}",
            receipt.host_calls
        );
        assert_eq!(
            receipt.host_calls[0].target,
            Some(format!("GET {base}/about"))
        );
        assert_eq!(receipt.host_calls[0].outcome, HostCallOutcome::Ok);
    }
}

#[tokio::test]
async fn without_a_grant_the_exception_names_the_host_and_the_grant() {
    let address = site::serve().await;
    for (name, tool) in tools() {
        let report = tool
            .call(json!({"url": format!("http://{address}/about")}))
            .await;
        assert_eq!(outcome(&report), Outcome::Denied, "{name}");
        let receipt = report.report.receipt.clone();
        let message = raised(report).message;
        assert!(message.contains("127.0.0.1"), "{name}: {message}");
        assert!(message.contains("--allow-host"), "{name}: {message}");
        assert_eq!(receipt.denials[0].capability, "http", "{name}");
    }
}

#[tokio::test]
async fn a_tool_can_catch_a_refusal_and_go_on() {
    if !has_python() {
        return;
    }
    for library in ["requests.get", "urllib.request.urlopen", "httpx.get"] {
        let text = format!(
            "import requests, httpx, urllib.request, urllib.error\ndef t(url: str):\n    try:\n        {library}(url)\n    \
             except (requests.ConnectionError, urllib.error.URLError, httpx.ConnectError) as error:\n        return type(error).__name__\n"
        );
        let report = Tool::python(&text)
            .call(json!({"url": "https://example.com/"}))
            .await;
        assert_eq!(outcome(&report), Outcome::Ok, "{library}: {report:?}");
        assert_eq!(report.report.receipt.denials.len(), 1, "{library}");
    }
}

#[tokio::test]
async fn private_addresses_are_denied_in_every_spelling() {
    for url in [
        "http://169.254.169.254/latest/",
        "http://127.0.0.1:1/",
        "http://[::1]/",
        "http://localhost/",
        "http://2130706433/",
        "http://0x7f.1/",
    ] {
        for (name, tool) in tools() {
            let tool = tool.granted(json!({"http": ["http://*", "https://*"]}));
            let report = tool.call(json!({"url": url})).await;
            assert_eq!(
                outcome(&report),
                Outcome::Denied,
                "{name} of {url}: {:?}",
                report.report.result
            );
        }
    }
}

#[tokio::test]
async fn other_schemes_lead_nowhere() {
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "data:text/plain,x",
        "gopher://127.0.0.1/",
    ] {
        for (name, tool) in tools() {
            let tool = tool.granted(json!({"http": ["http://*", "https://*"]}));
            let report = tool.call(json!({"url": url})).await;
            if url.starts_with("data:") && name == "urllib" {
                // What the address itself holds needs no network.
                assert_eq!(value(report), json!("x"));
                continue;
            }
            assert!(
                report.report.result.is_err(),
                "{name} of {url}: {:?}",
                report.report.result
            );
            assert_ne!(outcome(&report), Outcome::HostError);
        }
    }
}

#[tokio::test]
async fn requests_without_end_meet_their_budget() {
    let base = format!("http://{}", site::serve().await);
    let python = "import requests\ndef t(url: str):\n    done = 0\n    for _ in range(20):\n        try:\n            done += requests.get(url).status_code == 200\n        except requests.RequestException as error:\n            last = str(error)\n    return [done, last]\n";
    let javascript = "async function t(url) { let done = 0, last; for (let n = 0; n < 20; n++) { try { done += (await fetch(url)).status === 200 ? 1 : 0 } catch (error) { last = error.message } } return [done, last] }";
    let mut tools = vec![Tool::javascript(javascript)];
    if has_python() {
        tools.push(Tool::python(python));
    }
    for mut tool in tools {
        tool.limits = Limits {
            http_requests: 5,
            ..Limits::default()
        };
        let report = tool
            .granted(json!({"http": [base]}))
            .call(json!({"url": base}))
            .await;
        assert_eq!(value(report)[0], json!(5));
    }
    the_next_call_is_unharmed().await;
}
