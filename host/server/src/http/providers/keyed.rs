//! Bodies that hold keys: what is wrong with one is told with what was sent, but for the keys.

use axum::extract::Request;
use bulkhead_store::ProviderKeys;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::contract::{
    Refusal,
    body::{self, Schema},
};

/// What stands in the place of a key while its body is checked.
const HIDDEN: &str = "(hidden)";

/// The body of a request as `T`, and the keys that it has.
pub(super) async fn read<T: Schema>(request: Request) -> Result<(T, ProviderKeys), Refusal> {
    let mut value = body::value(request).await?;
    let api_key = hide(&mut value, "api_key").unwrap_or_default();
    let access_key = hide(&mut value, "access_key");
    let keys = ProviderKeys {
        api_key,
        access_key,
    };
    Ok((body::read(&value)?, keys))
}

/// Takes a key out of a body, where it is a text.
fn hide(body: &mut Value, field: &str) -> Option<Zeroizing<String>> {
    let key = body.get_mut(field).filter(|key| key.is_string())?;
    match std::mem::replace(key, HIDDEN.into()) {
        Value::String(key) => Some(Zeroizing::new(key)),
        _ => None,
    }
}
