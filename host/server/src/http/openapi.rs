//! The OpenAPI document. Paths and shapes come from the handlers; here stands what is around
//! them, and in [`refusals`] what all of them have in common.

mod refusals;

use utoipa::{
    ToSchema,
    openapi::{
        ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, RefOr, Schema,
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

pub(crate) use self::refusals::add as add_refusals;
use crate::contract::document::{Detail, Occupied, RunRefusal};

const DESCRIPTION: &str = "Runs tools of AI agents as WebAssembly components, each call in a fresh \
    sandbox, with only what a person granted, and with a receipt.\n\nEvery error has the same shape: \
    `error.code` is stable, `error.message` says what was wrong and what to do, `error.problems` \
    names each place by a JSON Pointer.";

/// The document without its paths.
pub(crate) fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Bulkhead")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(
            LicenseBuilder::new()
                .name("Apache-2.0")
                .identifier(Some("Apache-2.0"))
                .build(),
        ))
        .build();
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("needed where the server has an access token"))
        .build();
    let components = ComponentsBuilder::new()
        .security_scheme("token", SecurityScheme::Http(token))
        .schemas_from_iter(schemas::<Detail>())
        .schemas_from_iter(schemas::<Occupied>())
        .schemas_from_iter(schemas::<RunRefusal>())
        .build();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new(
            "token",
            Vec::<String>::new(),
        )]))
        .build()
}

/// A type and those that it is made of.
fn schemas<T: ToSchema>() -> Vec<(String, RefOr<Schema>)> {
    let mut all = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use serde_json::Value;

    /// `BLESS=1 cargo test -p bulkhead-server openapi` writes the file anew.
    #[test]
    fn the_openapi_document_is_the_golden_file() {
        let (_, document) = crate::http::documented().split_for_parts();
        let text = document.to_pretty_json().unwrap() + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
        if std::env::var("BLESS").is_ok_and(|bless| bless == "1") {
            std::fs::write(&path, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            golden == text,
            "the API changed: BLESS=1 cargo test -p bulkhead-server openapi"
        );
    }

    /// A path in which parameters have no names, since the contract has others for some.
    fn nameless(path: &str) -> String {
        let parts = path.split('/').map(|part| match part.starts_with('{') {
            true => "{}",
            false => part,
        });
        parts.collect::<Vec<_>>().join("/")
    }

    /// The server's own test asks each route what it checks; this one finds the texts, too, which any
    /// value suits.
    #[test]
    fn every_query_parameter_of_the_contract_is_in_the_document() {
        let (_, document) = crate::http::documented().split_for_parts();
        let document: Value = serde_json::to_value(&document).unwrap();
        let mut names = BTreeMap::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let queries = parameters.filter(|parameter| parameter["in"] == "query");
                let queries: Vec<_> = queries.map(|query| query["name"].clone()).collect();
                names.insert(format!("{method} {}", nameless(path)), queries);
            }
        }
        let contract = include_str!("../contract/queries.json");
        let contract: BTreeMap<String, String> = serde_json::from_str(contract).unwrap();
        let mut compared = 0;
        for (route, expected) in contract {
            // Some rare routes are not there.
            let Some(documented) = names.get(&nameless(&route)) else {
                continue;
            };
            for name in expected.split(' ') {
                assert!(documented.contains(&name.into()), "{route}: {name}");
                compared += 1;
            }
        }
        assert!(compared > 250, "{compared}");
    }
}
