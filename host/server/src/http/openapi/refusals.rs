//! What every route may answer, whatever it is about. It comes from the guard, the extractors and the
//! database rather than from handlers, so that it stands here once and not beside each of them.

use http::StatusCode;
use utoipa::{
    ToSchema as _,
    openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, path::Operation},
};

use crate::http::error::ErrorBody;

/// Of every route that is not open to anybody. Those that are name what they answer.
const OF_ALL: [(StatusCode, &str); 3] = [
    (
        StatusCode::UNAUTHORIZED,
        "the token that was sent does not count, or there is none and the server wants one",
    ),
    (
        StatusCode::FORBIDDEN,
        "whose token it is may not do this, or the request comes from a page of another origin",
    ),
    (
        StatusCode::SERVICE_UNAVAILABLE,
        "the database or the server is busy; try again in a moment",
    ),
];

/// Of routes with a parameter in the path or the query.
const OF_PARAMETERS: [(StatusCode, &str); 1] = [(
    StatusCode::UNPROCESSABLE_ENTITY,
    "a part of the path or the query is malformed",
)];

/// Of routes with a body.
const OF_BODIES: [(StatusCode, &str); 5] = [
    (StatusCode::BAD_REQUEST, "the body is not valid JSON"),
    (
        StatusCode::REQUEST_TIMEOUT,
        "the body did not arrive in time",
    ),
    (
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body is larger than this route takes",
    ),
    (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "this route does not take a body of that media type",
    ),
    (
        StatusCode::UNPROCESSABLE_ENTITY,
        "the body does not have the form",
    ),
];

/// Of routes that write.
const OF_CHANGES: [(StatusCode, &str); 1] = [(
    StatusCode::INSUFFICIENT_STORAGE,
    "the database has no space left; nothing was written",
)];

/// Adds to each route the refusals that it does not name itself.
pub(crate) fn add(document: &mut OpenApi) {
    for path in document.paths.paths.values_mut() {
        add_all(path.get.as_mut(), false);
        let changes = [
            &mut path.put,
            &mut path.post,
            &mut path.patch,
            &mut path.delete,
        ];
        for operation in changes {
            add_all(operation.as_mut(), true);
        }
    }
}

fn add_all(operation: Option<&mut Operation>, writes: bool) {
    let Some(operation) = operation else { return };
    let is_open = operation.security.is_some();
    let has_parameters = operation
        .parameters
        .as_ref()
        .is_some_and(|all| !all.is_empty());
    let has_body = operation.request_body.is_some();
    let rows = OF_ALL
        .iter()
        .filter(|_| !is_open)
        .chain(OF_PARAMETERS.iter().filter(|_| has_parameters))
        .chain(OF_BODIES.iter().filter(|_| has_body))
        .chain(OF_CHANGES.iter().filter(|_| writes));
    for (status, text) in rows {
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.as_str().to_owned())
            .or_insert_with(|| refusal(text));
    }
}

fn refusal(text: &str) -> RefOr<Response> {
    let schema = Ref::from_schema_name(ErrorBody::name());
    ResponseBuilder::new()
        .description(text)
        .content("application/json", Content::new(Some(schema)))
        .into()
}
