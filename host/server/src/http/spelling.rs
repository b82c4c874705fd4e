//! Both spellings of a path: with and without a slash at its end. Clients and people use both, and
//! the contract redirects one to the other; here each is answered at once.

use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::AppState;

/// Adds routes in both spellings. The document has the one in which they are written.
pub(crate) fn add(
    router: OpenApiRouter<AppState>,
    routes: impl IntoIterator<Item = UtoipaMethodRouter<AppState>>,
) -> OpenApiRouter<AppState> {
    routes.into_iter().fold(router, |mut router, routes| {
        for path in routes.1.paths.keys() {
            router = router.route(&other(path), routes.2.clone());
        }
        router.routes(routes)
    })
}

/// The other spelling of a path.
fn other(path: &str) -> String {
    match path.strip_suffix('/') {
        Some(path) => path.to_owned(),
        None => format!("{path}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_two_spellings() {
        assert_eq!(other("/v1/agents/"), "/v1/agents");
        assert_eq!(other("/v1/agents/{agent_id}"), "/v1/agents/{agent_id}/");
    }
}
