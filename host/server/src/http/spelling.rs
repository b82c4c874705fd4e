//! The spellings of a path: with and without a slash at its end, since clients and people use both
//! (the contract redirects one to the other; here each is answered at once), and below `/latest`,
//! where the contract has every route a second time.

use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::AppState;

/// Adds routes in all spellings. The document has the one in which they are written.
pub(crate) fn add(
    router: OpenApiRouter<AppState>,
    routes: impl IntoIterator<Item = UtoipaMethodRouter<AppState>>,
) -> OpenApiRouter<AppState> {
    routes.into_iter().fold(router, |mut router, routes| {
        for path in routes.1.paths.keys() {
            for path in others(path) {
                router = router.route(&path, routes.2.clone());
            }
        }
        router.routes(routes)
    })
}

/// The other spellings of a path.
fn others(path: &str) -> Vec<String> {
    let mut others = vec![other(path)];
    if let Some(rest) = path.strip_prefix("/v1/") {
        let latest = format!("/latest/{rest}");
        others.push(other(&latest));
        others.push(latest);
    }
    others
}

/// The path with the slash at its end, or without.
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
    fn a_path_has_spellings_with_and_without_a_slash_and_below_latest() {
        assert_eq!(
            others("/v1/agents/"),
            ["/v1/agents", "/latest/agents", "/latest/agents/"]
        );
        assert_eq!(others("/metrics"), ["/metrics/"]);
    }
}
