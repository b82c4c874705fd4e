//! A message as a row: columns to find it by, and the rest as one document.

use std::borrow::Cow;

use bulkhead_domain::{Approval, Message, Part, Role, ToolCall, ToolReturn};
use serde::{Deserialize, Serialize};

use crate::{
    Result, StoreError, check,
    search::searchable,
    sql::{Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(crate) const COLUMNS: &str =
    "id, agent_id, conversation_id, run_id, step_id, role, created_at, body";

/// What no column has.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    #[serde(default, skip_serializing_if = "is_empty")]
    content: Cow<'a, [Part]>,
    #[serde(default, skip_serializing_if = "is_empty")]
    tool_calls: Cow<'a, [ToolCall]>,
    #[serde(default, skip_serializing_if = "is_empty")]
    tool_returns: Cow<'a, [ToolReturn]>,
    #[serde(default, skip_serializing_if = "is_empty")]
    approvals: Cow<'a, [Approval]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    otid: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sender_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_err: Option<bool>,
}

fn is_empty<T: Clone>(list: &[T]) -> bool {
    list.is_empty()
}

fn borrowed(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|text| Cow::Borrowed(text.as_str()))
}

/// What a message becomes, made before it is written.
struct Prepared {
    body: String,
    text_folded: String,
    /// The tools whose results it has, as a list in JSON.
    tool_names: Option<String>,
}

impl Prepared {
    fn of(message: &Message) -> Result<Self> {
        if let Some(group) = &message.group_id {
            check::text("the group of a message", group, check::NAME_MAX)?;
        }
        for approval in &message.approvals {
            if let Approval::Tool { tool_return, .. } = approval {
                let what = "the result of a tool";
                let reason = "is larger than 8 MiB";
                check::json(what, tool_return, check::DOCUMENT_MAX, reason)?;
            }
        }
        let text_folded = searchable(&text(message));
        let names = message.tool_returns.iter().map(|result| &result.name);
        let names: Vec<_> = names.collect();
        let tool_names = (!names.is_empty()).then(|| check::document("the tools' names", &names));
        let tool_names = tool_names.transpose()?;
        let body = Body {
            content: Cow::Borrowed(&message.content),
            tool_calls: Cow::Borrowed(&message.tool_calls),
            tool_returns: Cow::Borrowed(&message.tool_returns),
            approvals: Cow::Borrowed(&message.approvals),
            otid: borrowed(message.otid.as_ref()),
            name: borrowed(message.name.as_ref()),
            sender_id: borrowed(message.sender_id.as_ref()),
            group_id: borrowed(message.group_id.as_ref()),
            model: borrowed(message.model.as_ref()),
            is_err: message.is_err,
        };
        let body = check::document("the message", &body)?;
        Ok(Self {
            body,
            text_folded,
            tool_names,
        })
    }

    /// Bytes of what is read and searched.
    fn size(&self) -> i64 {
        i64::try_from(self.body.len()).unwrap_or(i64::MAX)
    }
}

/// Whether a message can be stored: [`StoreError::Quota`] where its document is larger than
/// [`check::DOCUMENT_MAX`] or its group has a name that is too long, [`StoreError::Invalid`] where a
/// client's result nests too deep. For whoever wants to refuse it before an agent works on it.
pub fn expect_storable(message: &Message) -> Result<()> {
    Prepared::of(message).map(drop)
}

/// What a message is found by: what is said in it, and the texts of results.
fn text(message: &Message) -> String {
    let mut text = message.spoken();
    for result in &message.tool_returns {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&result.text);
    }
    text
}

/// Rows of one statement: far fewer values than either database takes.
const ROWS_AT_ONCE: usize = 50;

/// Writes messages in this order; those of a thread must be written while its agent is locked, so
/// that they are in order.
pub(crate) async fn insert_messages(
    transaction: &mut Transaction,
    messages: &[Message],
) -> Result<()> {
    for messages in messages.chunks(ROWS_AT_ONCE) {
        let mut insert = Statement::new(
            "INSERT INTO messages (id, agent_id, conversation_id, run_id, step_id, role,
            created_at, group_id, text_folded, tool_names, size, body) VALUES ",
        );
        for (index, message) in messages.iter().enumerate() {
            let prepared = Prepared::of(message)?;
            let size = prepared.size();
            insert.push_row(
                index == 0,
                [
                    message.id.to_string().into(),
                    message.agent_id.to_string().into(),
                    message.conversation_id.map(|id| id.to_string()).into(),
                    message.run_id.map(|id| id.to_string()).into(),
                    message.step_id.map(|id| id.to_string()).into(),
                    message.role.as_str().into(),
                    message.created_at.into(),
                    message.group_id.clone().into(),
                    prepared.text_folded.into(),
                    prepared.tool_names.into(),
                    size.into(),
                    prepared.body.into(),
                ],
            );
        }
        transaction.defer(insert).await?;
    }
    Ok(())
}

/// Puts other content into a system message, which keeps its id and its place.
pub(crate) async fn replace_content(
    transaction: &mut Transaction,
    former: Message,
    content: &[Part],
) -> Result<()> {
    if former.role != Role::System {
        return Err(StoreError::Invalid {
            what: "the message whose content is replaced",
            reason: "is no system message",
        });
    }
    let message = Message {
        content: content.to_vec(),
        ..former
    };
    let prepared = Prepared::of(&message)?;
    let update = "UPDATE messages SET text_folded = $2, size = $3, body = $4 WHERE id = $1";
    let update = Statement::new(update)
        .bind(message.id.to_string())
        .bind(prepared.text_folded.as_str())
        .bind(prepared.size())
        .bind(prepared.body.as_str());
    transaction.defer(update).await
}

/// Reads [`COLUMNS`], the first of which is column `first`.
pub(crate) fn record_at(row: &Row, first: usize) -> Result<Message> {
    let body: Body<'static> = row.json(first + 7, "message")?;
    Ok(Message {
        id: row.parsed(first, "message id")?,
        agent_id: row.parsed(first + 1, "agent of a message")?,
        conversation_id: row.optional_parsed(first + 2, "conversation of a message")?,
        run_id: row.optional_parsed(first + 3, "run of a message")?,
        step_id: row.optional_parsed(first + 4, "step of a message")?,
        role: role(&row.text(first + 5)?)?,
        content: body.content.into_owned(),
        tool_calls: body.tool_calls.into_owned(),
        tool_returns: body.tool_returns.into_owned(),
        approvals: body.approvals.into_owned(),
        otid: body.otid.map(Cow::into_owned),
        name: body.name.map(Cow::into_owned),
        sender_id: body.sender_id.map(Cow::into_owned),
        group_id: body.group_id.map(Cow::into_owned),
        model: body.model.map(Cow::into_owned),
        is_err: body.is_err,
        created_at: row.timestamp(first + 6)?,
    })
}

pub(crate) fn record(row: &Row) -> Result<Message> {
    record_at(row, 0)
}

fn role(text: &str) -> Result<Role> {
    serde_json::from_value(text.into()).map_err(|error| StoreError::corrupt("role", error))
}
