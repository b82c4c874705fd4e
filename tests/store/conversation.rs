use bulkhead_domain::{
    Conversation, Message, Role, Timestamp,
    id::{AgentId, BlockId, ConversationId, MessageId},
};
use bulkhead_store::{ConversationFilter, ConversationOrder, MessageFilter, Store, StoreError};
use serde_json::json;

use super::history::new_agent;

async fn found(store: &Store, filter: &ConversationFilter) -> Vec<ConversationId> {
    let found = store.conversations(filter).await.unwrap();
    found.iter().map(|conversation| conversation.id).collect()
}

on_both! {
    async fn a_conversation_reads_back_changes_and_is_hidden_when_deleted(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let mut conversation = Conversation::new(agent);
        let mut own = Message::text(agent, Role::System, "You are helpful.");
        own.conversation_id = Some(conversation.id);
        conversation.in_context_message_ids = vec![own.id, system];
        conversation.isolated_block_ids = vec![BlockId::random()];
        conversation.model_settings = Some(json!({"temperature": 0.5}));
        conversation.summary = Some("Weather".to_owned());
        store.create_conversation(&conversation, std::slice::from_ref(&own)).await.unwrap();
        let read = store.conversation(&conversation.id).await.unwrap();
        assert_eq!(read.as_ref(), Some(&conversation));

        let changed = store.update_conversation(&conversation.id, |conversation| {
            conversation.agent_id = AgentId::random();
            conversation.in_context_message_ids.clear();
            conversation.summary = None;
            conversation.last_message_at = Some(Timestamp::from_micros(8));
        });
        let changed = changed.await.unwrap();
        assert!(changed.updated_at >= conversation.updated_at);
        let expected = Conversation {
            summary: None,
            last_message_at: Some(Timestamp::from_micros(8)),
            updated_at: changed.updated_at,
            ..conversation.clone()
        };
        assert_eq!(changed, expected, "the context is not changed here");
        assert_eq!(store.conversation(&conversation.id).await.unwrap(), Some(expected));

        assert!(store.delete_conversation(&conversation.id).await.unwrap());
        assert!(!store.delete_conversation(&conversation.id).await.unwrap());
        assert_eq!(store.conversation(&conversation.id).await.unwrap(), None);
        assert!(found(&store, &ConversationFilter::default()).await.is_empty());
        let change = store.update_conversation(&conversation.id, |_| {}).await.unwrap_err();
        assert!(matches!(change, StoreError::NotFound { .. }), "{change:?}");
        assert_eq!(store.message(&own.id).await.unwrap(), Some(own), "what was said stays");
    }

    async fn a_conversation_with_what_is_not_there_is_refused(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let nobody = Conversation::new(AgentId::random());
        let mut unknown = Conversation::new(agent);
        unknown.in_context_message_ids = vec![MessageId::random()];
        for conversation in [nobody, unknown] {
            let error = store.create_conversation(&conversation, &[]).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
            assert_eq!(store.conversation(&conversation.id).await.unwrap(), None);
        }
        let foreign = [Message::text(agent, Role::System, "of the default thread")];
        let conversation = Conversation::new(agent);
        let error = store.create_conversation(&conversation, &foreign).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        let all = MessageFilter { agent_id: Some(agent), ..Default::default() };
        assert_eq!(store.count_messages(&all).await.unwrap(), 1);
    }

    async fn conversations_are_found_by_every_filter(database) {
        let store = database.open().await;
        let (first, _) = new_agent(&store).await;
        let (second, _) = new_agent(&store).await;
        let mut all = Vec::new();
        for (at, agent, summary, last) in [
            (1, first, Some("Straße 100%"), Some(50)), (2, first, None, None),
            (2, second, Some("STRASSE"), Some(40)),
        ] {
            let mut conversation = Conversation::new(agent);
            conversation.created_at = Timestamp::from_micros(at);
            conversation.summary = summary.map(str::to_owned);
            conversation.last_message_at = last.map(Timestamp::from_micros);
            store.create_conversation(&conversation, &[]).await.unwrap();
            all.push(conversation.id);
        }
        let base = ConversationFilter::default();
        let search = |text: &str| ConversationFilter {
            summary_search: Some(text.to_owned()), ..base.clone()
        };
        for (filter, expected) in [
            (base.clone(), vec![2, 1, 0]),
            (ConversationFilter { order_by: ConversationOrder::LastMessageAt, ..base.clone() },
                vec![0, 2, 1]),
            (ConversationFilter { agent_id: Some(first), ..base.clone() }, vec![1, 0]),
            (search("stra"), vec![2, 0]),
            (search("0%"), vec![0]),
            (search("_"), vec![]),
        ] {
            let expected: Vec<_> = expected.iter().map(|index: &usize| all[*index]).collect();
            assert_eq!(found(&store, &filter).await, expected, "{filter:?}");
        }
        let mut page = base;
        page.paging.after = Some(all[2].to_string());
        assert_eq!(found(&store, &page).await, [all[1], all[0]]);
    }

    async fn the_history_of_an_agent_goes_with_it(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let conversation = Conversation::new(agent);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let run = super::history::run(agent);
        store.create_run(&run).await.unwrap();
        let mut commit = super::history::adding(
            agent, &[system], super::history::exchange(agent, "weather"),
        );
        commit.step = Some(super::history::step(agent, Some(run.id)));
        commit.receipts = vec![("call".to_owned(), super::receipt::receipt(1))];
        store.commit_step(&commit).await.unwrap();
        assert!(store.delete_agent(&agent).await.unwrap());
        for table in ["messages", "runs", "steps", "step_receipts", "conversations"] {
            let count = format!("SELECT COUNT(*) FROM {table}");
            assert_eq!(super::raw::number(&database, &count).await, 0, "{table}");
        }
        let receipt = commit.receipts[0].1.id;
        assert!(store.receipt(&receipt).await.unwrap().is_some(), "receipts outlive it");
    }
}
