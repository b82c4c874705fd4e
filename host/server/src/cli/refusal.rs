//! What a server says when it refuses: as this server's own routes do, or as those of the V1 API do,
//! whose errors are a `detail` of several forms.

use bulkhead_domain::Problem;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use super::{error::CliError, exit::Exit};

/// What was said, whatever the form.
struct Said {
    code: String,
    message: String,
    problems: Vec<Problem>,
}

/// An error as this server writes it.
#[derive(Deserialize)]
struct Native {
    code: String,
    message: String,
    #[serde(default)]
    problems: Vec<Problem>,
}

/// A failure of a model's provider as the V1 API has it.
#[derive(Deserialize)]
struct OfProvider {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    detail: Option<String>,
}

/// One thing that is wrong in a request: its place, from the part of the request down, and what.
#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    loc: Vec<Value>,
    msg: String,
}

/// The server's own words, with the exit code that fits its status and code.
pub(super) fn refusal(base: &str, status: StatusCode, text: &str) -> CliError {
    let body: Option<Value> = serde_json::from_str(text).ok();
    let Some(said) = body.and_then(|body| said(status, &body)) else {
        let message = format!("{base} answered {status} without an error that it explains");
        return CliError::new(Exit::Server, "unexpected_answer", message)
            .hint("is this a Bulkhead server?");
    };
    let exit = match (status.as_u16(), said.code.as_str()) {
        (401 | 403, _) | (_, "consent_required") => Exit::Denied,
        (_, "invalid_input" | "unknown_tool") => Exit::InvalidInput,
        (_, code) if is_install_code(code) => Exit::Refused,
        _ => Exit::Server,
    };
    let refused = CliError {
        problems: said.problems,
        ..CliError::new(exit, said.code, said.message)
    };
    match refused.code.as_str() {
        "unauthorized" => refused.hint("set BULKHEAD_TOKEN to the server's token"),
        "consent_required" => refused
            .hint("see `bulkhead tool diff`, then `bulkhead tool grant NAME --accept DIGEST`"),
        _ => refused,
    }
}

fn said(status: StatusCode, body: &Value) -> Option<Said> {
    if let Ok(Native {
        code,
        message,
        problems,
    }) = Native::deserialize(&body["error"])
    {
        return Some(Said {
            code,
            message,
            problems,
        });
    }
    if let Ok(failure) = OfProvider::deserialize(&body["error"]) {
        let detail = failure.detail.filter(|detail| !detail.is_empty());
        let detail = detail.map_or_else(String::new, |detail| format!(" {detail}"));
        return Some(Said {
            code: failure.kind,
            message: format!("{}{detail}", failure.message),
            problems: Vec::new(),
        });
    }
    let code = code(status).to_owned();
    let (code, message, problems) = match &body["detail"] {
        Value::Null => return None,
        Value::String(text) => (code, text.clone(), Vec::new()),
        Value::Array(faults) => (
            code,
            "the server does not take the request as it is".to_owned(),
            faults.iter().map(problem).collect(),
        ),
        detail => {
            let own = detail["code"].as_str();
            let message = detail["message"].as_str();
            (
                own.map_or(code, str::to_owned),
                message.map_or_else(|| detail.to_string(), str::to_owned),
                Vec::new(),
            )
        }
    };
    Some(Said {
        code,
        message,
        problems,
    })
}

/// A validation error as a place and a sentence; what has another form is shown as it is.
fn problem(fault: &Value) -> Problem {
    let Ok(Fault { loc, msg }) = Fault::deserialize(fault) else {
        return Problem {
            at: String::new(),
            message: fault.to_string(),
        };
    };
    let place = loc.iter().map(|part| match part {
        Value::String(name) => format!("/{name}"),
        other => format!("/{other}"),
    });
    Problem {
        at: place.collect(),
        message: msg,
    }
}

/// A word for programs, where the server has none.
fn code(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 | 422 => "invalid_request",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        _ => "refused",
    }
}

/// Codes with which an install is refused; see `bulkhead_sandbox::InstallError::code`.
fn is_install_code(code: &str) -> bool {
    matches!(
        code,
        "not_a_component"
            | "component_too_large"
            | "invalid_component"
            | "unknown_imports"
            | "no_tools"
            | "wrong_abi_version"
            | "compile_timeout"
            | "compile_failed"
            | "describe_failed"
            | "invalid_description"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, text: &str) -> CliError {
        let status = StatusCode::from_u16(status).expect("a status");
        refusal("http://x", status, text)
    }

    #[test]
    fn the_server_s_code_and_problems_reach_the_person() {
        let text = r#"{"error": {"code": "invalid_input", "message": "wrong",
            "problems": [{"at": "/n", "message": "must be a number"}]}, "detail": "wrong"}"#;
        let error = refused(422, text);
        assert_eq!(
            (error.exit, error.code.as_str()),
            (Exit::InvalidInput, "invalid_input")
        );
        assert_eq!(error.problems[0].at, "/n");
    }

    #[test]
    fn each_refusal_has_the_exit_code_of_its_kind() {
        let of = |status: u16, code: &str| {
            let text = format!(r#"{{"error": {{"code": "{code}", "message": "m"}}}}"#);
            refused(status, &text).exit
        };
        assert_eq!(of(401, "unauthorized"), Exit::Denied);
        assert_eq!(of(409, "consent_required"), Exit::Denied);
        assert_eq!(of(422, "unknown_imports"), Exit::Refused);
        assert_eq!(of(404, "unknown_component"), Exit::Server);
        assert_eq!(refused(502, "<html>").exit, Exit::Server);
        assert_eq!(refused(403, r#"{"detail": "no"}"#).exit, Exit::Denied);
    }

    #[test]
    fn a_detail_of_any_form_is_shown_in_its_own_words() {
        for (status, text, code, message) in [
            (
                404,
                r#"{"detail": "Agent with ID x not found"}"#,
                "not_found",
                "Agent with ID x not found",
            ),
            (
                409,
                r#"{"detail": {"code": "PENDING_APPROVAL", "message": "it waits"}}"#,
                "PENDING_APPROVAL",
                "it waits",
            ),
            (
                400,
                r#"{"detail": {"x": 1}}"#,
                "invalid_request",
                r#"{"x":1}"#,
            ),
            (
                401,
                r#"{"error": {"type": "llm_authentication", "message": "It failed.", "detail": "OpenAI: no"}}"#,
                "llm_authentication",
                "It failed. OpenAI: no",
            ),
            (
                500,
                r#"{"message": "no detail"}"#,
                "unexpected_answer",
                "http://x answered 500 Internal Server Error without an error that it explains",
            ),
        ] {
            let error = refused(status, text);
            assert_eq!(
                (error.code.as_str(), error.message.as_str()),
                (code, message)
            );
        }
    }

    #[test]
    fn each_validation_error_is_told_with_its_place() {
        let text = r#"{"detail": [
            {"type": "missing", "loc": ["body", "tags", 1], "msg": "Field required", "input": {}},
            "odd"
        ]}"#;
        let problems = refused(422, text).problems;
        let told = problems.iter().map(|p| (p.at.as_str(), p.message.as_str()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("/body/tags/1", "Field required"), ("", "\"odd\"")]
        );
    }
}
