//! The one entry point to all providers.

use bulkhead_domain::EmbeddingConfig;
use serde_json::Value;

use crate::{
    SetupError,
    chat::{ChatReply, ChatRequest, Deltas, Endpoint},
    embed,
    error::{ErrorKind, LlmError},
    openai, responses,
    transport::{Transport, failure, settings::Settings},
};

/// Asks models, whatever their provider. Clones share connections.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
}

impl Client {
    /// A client with these time-outs.
    ///
    /// # Errors
    /// When the HTTP client can't be set up.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        let transport = Transport::new(settings)?;
        Ok(Self { transport })
    }

    /// Asks a model. With `deltas`, the answer is streamed and its pieces go there as they come;
    /// the whole answer is returned in either case. Dropping the future ends the request.
    ///
    /// # Errors
    /// As [`LlmError`] says. A passing failure is returned only after the request was repeated.
    pub async fn chat(
        &self,
        request: &ChatRequest,
        deltas: Option<Deltas>,
    ) -> Result<ChatReply, LlmError> {
        let (transport, deltas) = (&self.transport, deltas.as_ref());
        if crate::scripted::is_scripted(&request.config) {
            return crate::scripted::chat(request, deltas).await;
        }
        match request.config.model_endpoint_type.as_str() {
            "anthropic" => crate::anthropic::chat(transport, request, deltas).await,
            "google_ai" => crate::gemini::chat(transport, request, deltas).await,
            other @ ("bedrock" | "google_vertex" | "chatgpt_oauth") => {
                Err(unspoken(&request.endpoint, other))
            }
            _ if responses::speaks(&request.config) => {
                responses::chat(transport, request, deltas).await
            }
            _ => openai::chat(transport, request, deltas).await,
        }
    }

    /// The body that [`Self::chat`] posts, with `stream` where it is given `deltas`. It holds no
    /// key. Nobody is asked.
    ///
    /// # Errors
    /// For an endpoint of a type that can't be asked.
    pub fn payload(&self, request: &ChatRequest, stream: bool) -> Result<Value, LlmError> {
        if crate::scripted::is_scripted(&request.config) {
            return Ok(crate::scripted::payload(request, stream));
        }
        Ok(match request.config.model_endpoint_type.as_str() {
            "anthropic" => crate::anthropic::payload(request, stream),
            "google_ai" => crate::gemini::payload(request),
            other @ ("bedrock" | "google_vertex" | "chatgpt_oauth") => {
                return Err(unspoken(&request.endpoint, other));
            }
            _ if responses::speaks(&request.config) => responses::payload(request, stream),
            _ => openai::payload(request, stream),
        })
    }

    /// One vector for each text, in order.
    ///
    /// # Errors
    /// As [`LlmError`] says.
    pub async fn embed(
        &self,
        config: &EmbeddingConfig,
        endpoint: &Endpoint,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, LlmError> {
        match config.embedding_endpoint_type.as_str() {
            "google_ai" => {
                crate::gemini::embed::embed(&self.transport, config, endpoint, texts).await
            }
            other @ ("anthropic" | "bedrock" | "google_vertex" | "pinecone") => {
                Err(unspoken(endpoint, other))
            }
            _ => embed::embed(&self.transport, config, endpoint, texts).await,
        }
    }

    /// The way to providers, for what is neither chat nor embedding.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }
}

fn unspoken(endpoint: &Endpoint, endpoint_type: &str) -> LlmError {
    let text = format!("endpoints of the type `{endpoint_type}` can't be asked by this server");
    failure(endpoint, ErrorKind::BadRequest, &text)
}
