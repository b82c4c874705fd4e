//! Conversations: threads of an agent beside its default one.

mod filter;
mod row;

use bulkhead_domain::{Conversation, Message, Timestamp, id::ConversationId};

use crate::{
    Result, Store, StoreError, compiled_here,
    message::insert_messages,
    sql::{Durability, Statement},
    thread::LockedThread,
};

pub use filter::{ConversationFilter, ConversationOrder};
pub use row::{ISOLATED_BLOCKS_MAX, SUMMARY_MAX};

impl Store {
    /// Stores a new conversation with its first messages, in order. Its context may name messages
    /// of other threads of the agent as well. [`StoreError::NotFound`] where the agent or a message
    /// of the context is not there.
    #[compiled_here]
    pub async fn create_conversation(
        &self,
        conversation: &Conversation,
        messages: &[Message],
    ) -> Result<()> {
        let of_it = |message: &Message| {
            message.agent_id == conversation.agent_id
                && message.conversation_id == Some(conversation.id)
        };
        if !messages.iter().all(of_it) {
            return Err(StoreError::Invalid {
                what: "a message of the new conversation",
                reason: "is of another thread",
            });
        }
        let mut transaction = self.database().begin(Durability::Power).await?;
        let thread = LockedThread::lock(&mut transaction, conversation.agent_id, None).await?;
        row::put(&mut transaction, conversation).await?;
        insert_messages(&mut transaction, messages).await?;
        let context = &conversation.in_context_message_ids;
        let known = messages.iter().map(|message| message.id);
        thread
            .expect_messages(&mut transaction, context, known)
            .await?;
        transaction.commit().await
    }

    /// The conversation with this id; none where it was deleted.
    #[compiled_here]
    pub async fn conversation(&self, id: &ConversationId) -> Result<Option<Conversation>> {
        let mut query = Statement::new("SELECT ");
        query
            .push(row::COLUMNS)
            .push(" FROM conversations WHERE id = ");
        query.push_value(id.to_string()).push(" AND is_deleted = 0");
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Changes a conversation; nobody else changes it from before `change` sees it until it is
    /// stored. Its id, its agent, its context and when it was made stay what they were: the
    /// context is the business of [`Store::commit_step`].
    pub async fn update_conversation(
        &self,
        id: &ConversationId,
        change: impl FnOnce(&mut Conversation) + Send,
    ) -> Result<Conversation> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut query = Statement::new("SELECT ");
        query
            .push(row::COLUMNS)
            .push(" FROM conversations WHERE id = ");
        query.push_value(id.to_string()).push(" AND is_deleted = 0");
        query.push(transaction.for_update());
        let missing = || StoreError::NotFound {
            what: "conversation",
            id: id.to_string(),
        };
        let row = transaction.optional(query).await?;
        let former = row::record(&row.ok_or_else(missing)?)?;
        let mut conversation = former.clone();
        change(&mut conversation);
        conversation.id = former.id;
        conversation.agent_id = former.agent_id;
        conversation.in_context_message_ids = former.in_context_message_ids;
        conversation.created_at = former.created_at;
        conversation.updated_at = Timestamp::now();
        row::put(&mut transaction, &conversation).await?;
        transaction.commit().await?;
        Ok(conversation)
    }

    /// Deletes a conversation: it is in no list any more and cannot be read, while its messages
    /// stay with its agent. Whether it was there.
    #[compiled_here]
    pub async fn delete_conversation(&self, id: &ConversationId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = "UPDATE conversations SET is_deleted = 1, updated_at = $2
            WHERE id = $1 AND is_deleted = 0";
        let delete = Statement::new(delete)
            .bind(id.to_string())
            .bind(Timestamp::now());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}
