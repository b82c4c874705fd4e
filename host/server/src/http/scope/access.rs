//! What the routes of `/v1` are about.

use bulkhead_access::Action;
use http::Method;

use crate::http::docs;

/// What a route is about. Every route of `/v1` that is not named here is about the installation.
pub(crate) fn access(method: &Method, path: &str) -> Action {
    if docs::PATHS.contains(&path) {
        return Action::ReadCatalog;
    }
    let rest = path
        .strip_prefix("/v1/")
        .or_else(|| path.strip_prefix("/latest/"));
    let segments: Vec<&str> = rest
        .unwrap_or_default()
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let reads = method == Method::GET;
    match segments.as_slice() {
        ["health" | "ready"] => Action::ReadCatalog,
        ["models", ..] | ["tools"] | ["tools", _] if reads => Action::ReadCatalog,
        // The older name of a step's trace.
        ["telemetry", _] if reads => Action::CreateObject,
        // A file brings tools, whose names are the installation's.
        ["agents", "import"] => Action::ManageInstallation,
        [
            "agents" | "groups" | "blocks" | "archives" | "passages" | "conversations" | "runs"
            | "jobs" | "steps" | "messages" | "tags" | "chat" | "folders" | "sources",
            ..,
        ] => Action::CreateObject,
        _ => Action::ManageInstallation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_the_installations() {
        for (method, path, expected) in [
            (Method::GET, "/v1/agents/", Action::CreateObject),
            (Method::POST, "/latest/agents", Action::CreateObject),
            (
                Method::POST,
                "/v1/agents/import",
                Action::ManageInstallation,
            ),
            (Method::GET, "/v1/telemetry/step-1", Action::CreateObject),
            (
                Method::POST,
                "/v1/telemetry/step-1",
                Action::ManageInstallation,
            ),
            (Method::GET, "/v1/tools/", Action::ReadCatalog),
            (Method::POST, "/v1/tools/", Action::ManageInstallation),
            (Method::GET, "/v1/models/embedding", Action::ReadCatalog),
            (Method::GET, "/v1/providers/", Action::ManageInstallation),
            (Method::POST, "/v1/components", Action::ManageInstallation),
            (Method::GET, "/v1/something/new", Action::ManageInstallation),
            (Method::GET, "/metrics", Action::ManageInstallation),
            (Method::GET, "/openapi.json", Action::ReadCatalog),
            (
                Method::GET,
                "/v1/_internal_agents/count",
                Action::ManageInstallation,
            ),
        ] {
            assert_eq!(access(&method, path), expected, "{method} {path}");
        }
    }
}
