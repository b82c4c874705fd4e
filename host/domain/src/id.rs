//! Identifiers: a prefix that names the kind of thing, a dash, a random UUID (version 4).

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The UUID of a text in the one form in which it is written here: small letters, with dashes. Who may
/// see a thing is decided by the text of its id, so that it must not have two.
pub fn canonical(text: &str) -> Option<Uuid> {
    let uuid = Uuid::try_parse(text).ok()?;
    let mut buffer = Uuid::encode_buffer();
    (*uuid.hyphenated().encode_lower(&mut buffer) == *text).then_some(uuid)
}

/// A kind of thing that has identifiers.
pub trait Kind {
    /// What its identifiers begin with, without the dash.
    const PREFIX: &'static str;
}

/// An identifier of a `K`, for example `receipt-7c0e…`.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

/// A text that is no identifier of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id of the form {prefix}-<uuid>")]
pub struct ParseIdError {
    prefix: &'static str,
}

impl<K: Kind> Id<K> {
    /// A new, random identifier.
    pub fn random() -> Self {
        Self(Uuid::new_v4(), PhantomData)
    }

    /// The UUID behind the prefix.
    pub fn uuid(self) -> Uuid {
        self.0
    }

    /// The identifier of this UUID.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", K::PREFIX, self.0)
    }
}
impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl<K: Kind> FromStr for Id<K> {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = ParseIdError { prefix: K::PREFIX };
        let rest = text
            .strip_prefix(K::PREFIX)
            .and_then(|rest| rest.strip_prefix('-'));
        let uuid = rest.and_then(canonical).ok_or(error)?;
        Ok(Self(uuid, PhantomData))
    }
}
impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $alias:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}
        impl Kind for $name {
            const PREFIX: &'static str = $prefix;
        }
        #[doc = concat!("Identifies a ", $prefix, ": `", $prefix, "-<uuid>`.")]
        pub type $alias = Id<$name>;
    )*};
}

kinds! {
    /// One call of a tool.
    Call = "call", CallId;
    /// The record of a call.
    ReceiptKind = "receipt", ReceiptId;
    /// What a person allowed a component.
    GrantKind = "grant", GrantId;
    /// A named secret that the host adds on the way out.
    CredentialKind = "credential", CredentialId;
    /// An agent.
    AgentKind = "agent", AgentId;
    /// A memory block.
    BlockKind = "block", BlockId;
    /// A stored message.
    MessageKind = "message", MessageId;
    /// What one request to an agent does.
    RunKind = "run", RunId;
    /// One call of a model.
    StepKind = "step", StepId;
    /// A thread of messages of an agent beside its default one.
    ConversationKind = "conv", ConversationId;
    /// A person or organisation that agents and blocks belong to.
    IdentityKind = "identity", IdentityId;
    /// A model provider that was configured through the API.
    ProviderKind = "provider", ProviderId;
    /// A collection of passages.
    ArchiveKind = "archive", ArchiveId;
    /// A text of an archive.
    PassageKind = "passage", PassageId;
    /// A secret of an agent.
    AgentSecretKind = "agent-env", AgentSecretId;
    /// What a provider was sent and answered in one step.
    TraceKind = "provider_trace", TraceId;
    /// Agents that work together.
    GroupKind = "group", GroupId;
    /// A server of tools that speaks MCP.
    McpServerKind = "mcp_server", McpServerId;
    /// A collection of files. The contract has two names for it, and one prefix.
    FolderKind = "source", FolderId;
    /// A file of a folder.
    FileKind = "file", FileId;
    /// A file as an agent has it.
    AgentFileKind = "file_agent", AgentFileId;
    /// A person who signs in to the platform.
    UserKind = "user", UserId;
    /// One sign-in of a user.
    SessionKind = "session", SessionId;
    /// What instances of the platform are made from.
    AgentTypeKind = "agent_type", AgentTypeId;
    /// A project of the platform.
    ProjectKind = "project", ProjectId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_other_kinds_are_refused() {
        let id = ReceiptId::random();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.to_string().parse::<GrantId>().is_err());
        assert!("receipt-1".parse::<ReceiptId>().is_err());
    }
}
