//! The form of an import: the file, and what a client says beside it.

use std::collections::BTreeMap;

use axum::{
    body::Body,
    extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request, multipart::Field},
};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

use crate::{
    agents::file::{
        BYTES_MAX,
        import::options::{self, Options},
    },
    contract::{Refusal, fault::Fault, scalar},
    http::error::{self, Rejection},
};

/// Fields of a form. The contract has a dozen.
const FIELDS_MAX: usize = 64;
/// Bytes of a field's name; none of the contract's is longer.
const FIELD_NAME_MAX: usize = 64;
/// Bytes of a field other than the file: names and handles.
const TEXT_MAX: usize = 64 << 10;
/// Bytes of the secrets.
const SECRETS_MAX: usize = 1 << 20;
/// The names of the field with the secrets.
const SECRETS: [&str; 2] = ["secrets", "env_vars_json"];
/// Older clients send the handle of the embedding model in it.
const EMBEDDING_HEADER: &str = "x-override-embedding-model";

/// What a form says.
pub(super) async fn read(headers: &HeaderMap, body: Bytes) -> Result<(Bytes, Options), Refusal> {
    let mut request = Request::new(Body::from(body));
    request.headers_mut().clone_from(headers);
    // Its size is known by now.
    DefaultBodyLimit::disable().apply(&mut request);
    let multipart = Multipart::from_request(request, &()).await;
    let mut multipart = multipart.map_err(|refused| malformed(&refused.body_text()))?;
    let mut form = Form::default();
    let mut fields = 0_usize;
    loop {
        let field = multipart.next_field().await;
        let Some(field) = field.map_err(|refused| malformed(&refused.body_text()))? else {
            break;
        };
        fields += 1;
        if fields > FIELDS_MAX {
            return Err(malformed(&format!("it has more than {FIELDS_MAX} fields")));
        }
        form.take(field).await?;
    }
    form.finish(headers)
}

fn malformed(reason: &str) -> Refusal {
    Refusal::bad_request(format!("The form can't be read: {reason}"))
}

/// A form that is being read.
#[derive(Default)]
struct Form {
    file: Option<Bytes>,
    texts: BTreeMap<String, String>,
    faults: Vec<Fault>,
}

impl Form {
    async fn take(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        let name = field.name().filter(|name| name.len() <= FIELD_NAME_MAX);
        let Some(name) = name.map(str::to_owned) else {
            return Ok(());
        };
        let bytes = field.bytes().await;
        let bytes = bytes.map_err(|refused| malformed(&refused.body_text()))?;
        if name == "file" {
            if bytes.len() > BYTES_MAX {
                let kind = &error::BODY_TOO_LARGE;
                let text = format!("{} ({BYTES_MAX} bytes of a file)", kind.text);
                return Err(Rejection::with(kind, text).into());
            }
            self.file = Some(bytes);
            return Ok(());
        }
        let is_secrets = SECRETS.contains(&name.as_str());
        let limit = if is_secrets { SECRETS_MAX } else { TEXT_MAX };
        if bytes.len() > limit {
            let reason = format!("the field {name} has more than {limit} bytes");
            return Err(malformed(&reason));
        }
        let Ok(text) = String::from_utf8(bytes.to_vec()) else {
            return Err(malformed(&format!("the field {name} is no text")));
        };
        // A field that is there and says nothing is as one that is not there.
        if !text.is_empty() {
            self.texts.insert(name, text);
        }
        Ok(())
    }

    fn finish(mut self, headers: &HeaderMap) -> Result<(Bytes, Options), Refusal> {
        let defaults = Options::default();
        let mut options = Options {
            name: self.text(&["name", "override_name"]),
            model: self.text(&["model", "override_model_handle"]),
            embedding: self.text(&["embedding", "override_embedding_handle"]),
            project_id: self.text(&["project_id"]),
            append_copy_suffix: self.truth("append_copy_suffix", defaults.append_copy_suffix),
            override_existing_tools: self
                .truth("override_existing_tools", defaults.override_existing_tools),
            strip_messages: self.truth("strip_messages", defaults.strip_messages),
            secrets: defaults.secrets,
        };
        let older = headers
            .get(EMBEDDING_HEADER)
            .and_then(|value| value.to_str().ok());
        let older = older.filter(|handle| !handle.is_empty());
        options.embedding = options.embedding.or(older.map(str::to_owned));
        let file = self.file.take();
        if file.is_none() {
            let place = vec![json!("body"), json!("file")];
            self.faults
                .push(Fault::new("missing", place, "Field required", Value::Null));
        }
        if !self.faults.is_empty() {
            return Err(Refusal::invalid(&self.faults, &[]));
        }
        if let Some(secrets) = self.text(&SECRETS) {
            options.secrets = options::secrets(&secrets)?;
        }
        Ok((file.unwrap_or_default(), options))
    }

    /// A text by the first of its names that is there.
    fn text(&self, names: &[&str]) -> Option<String> {
        let mut texts = names.iter().filter_map(|name| self.texts.get(*name));
        texts.next().cloned()
    }

    fn truth(&mut self, name: &'static str, default: bool) -> bool {
        let Some(text) = self.texts.get(name) else {
            return default;
        };
        scalar::boolean(text).unwrap_or_else(|| {
            let (kind, message) = scalar::NO_BOOLEAN;
            let place = vec![json!("body"), json!(name)];
            self.faults
                .push(Fault::new(kind, place, message, json!(text)));
            default
        })
    }
}
