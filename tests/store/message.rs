use bulkhead_domain::{
    Approval, ImageSource, Message, Part, Role, SPEAKING_TOOL, Timestamp, ToolCall, ToolStatus,
    id::{AgentId, MessageId, RunId, StepId},
};
use bulkhead_store::{
    MessageFilter, MessageSearch, Store, StoreError, ThreadFilter, message::expect_storable,
    tool::PAGE_BYTES_MAX,
};
use serde_json::json;

use super::history::{adding, context, exchange, new_agent};

/// Texts of the messages that a filter finds; counted too where it has no window.
async fn found(store: &Store, filter: &MessageFilter) -> Vec<String> {
    let messages = store.messages(filter).await.unwrap();
    if filter.after.is_none() && filter.before.is_none() && filter.limit.is_none() {
        assert_eq!(
            store.count_messages(filter).await.unwrap(),
            messages.len() as u64
        );
    }
    messages.iter().map(Message::plain_text).collect()
}

pub(crate) async fn add(store: &Store, agent: AgentId, messages: Vec<Message>) {
    let expected = context(store, &agent).await;
    store
        .commit_step(&adding(agent, &expected, messages))
        .await
        .unwrap();
}

on_both! {
    async fn messages_read_back_with_all_that_they_have(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let mut everything = Message::text(agent, Role::Approval, "nul \0 and \u{1f980}");
        let image = |source| Part::Image { source };
        everything.content.extend([
            image(ImageSource::Url { url: "https://example.com/a.png".to_owned() }),
            Part::RedactedReasoning { data: "abc".to_owned() },
            Part::OmittedReasoning { signature: None },
        ]);
        everything.approvals = vec![
            Approval::Approval {
                tool_call_id: "call_1".to_owned(), approve: false, reason: Some("no".to_owned()),
            },
            Approval::Tool {
                tool_call_id: "call_2".to_owned(),
                tool_return: json!([{"type": "text", "text": "42"}]),
                status: ToolStatus::Error,
                stdout: Some(vec!["out".to_owned()]),
                stderr: None,
            },
        ];
        everything.run_id = Some(RunId::random());
        everything.step_id = Some(StepId::random());
        everything.otid = Some("client\0".to_owned());
        everything.name = Some("Bob".to_owned());
        everything.sender_id = Some("identity-1".to_owned());
        everything.group_id = Some("group-1".to_owned());
        everything.model = Some("scripted".to_owned());
        everything.is_err = Some(true);
        everything.created_at = Timestamp::from_micros(-5);
        let mut messages = exchange(agent, "nul\0tool");
        messages.push(everything);
        add(&store, agent, messages.clone()).await;
        for message in &messages {
            assert_eq!(store.message(&message.id).await.unwrap().as_ref(), Some(message));
        }
        assert_eq!(store.message(&MessageId::random()).await.unwrap(), None);
    }

    async fn messages_are_found_by_every_filter(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let (other, _) = new_agent(&store).await;
        add(&store, other, vec![Message::text(other, Role::User, "elsewhere")]).await;
        let (run_id, step_id) = (Some(RunId::random()), Some(StepId::random()));
        let mut messages = Vec::new();
        for (number, role) in [Role::User, Role::Assistant, Role::User, Role::Summary]
            .into_iter().enumerate()
        {
            let mut message = Message::text(agent, role, number.to_string());
            // The order is that of writing, whatever the clock said.
            message.created_at = Timestamp::from_micros(100 - number as i64);
            message.run_id = run_id.filter(|_| number < 2);
            message.step_id = step_id.filter(|_| number == 1);
            message.group_id = (number % 2 == 1).then(|| "group-1".to_owned());
            messages.push(message);
        }
        add(&store, agent, messages.clone()).await;
        let system = "You are helpful.";
        let of_agent = MessageFilter { agent_id: Some(agent), ..Default::default() };
        let cursor = |index: usize| Some(messages[index].id);
        for (filter, expected) in [
            (of_agent.clone(), vec![system, "0", "1", "2", "3"]),
            (MessageFilter::default(), vec![system, system, "elsewhere", "0", "1", "2", "3"]),
            (MessageFilter { newest: true, ..of_agent.clone() }, vec![system, "0", "1", "2", "3"]),
            (MessageFilter { limit: Some(2), ..of_agent.clone() }, vec![system, "0"]),
            (MessageFilter { group_id: Some("group-1".to_owned()), ..of_agent.clone() }, vec!["1", "3"]),
            (MessageFilter { group_id: Some("group-1".to_owned()), limit: Some(1), newest: true,
                ..of_agent.clone() }, vec!["3"]),
            (MessageFilter { limit: Some(2), newest: true, ..of_agent.clone() }, vec!["2", "3"]),
            (MessageFilter { after: cursor(0), ..of_agent.clone() }, vec!["1", "2", "3"]),
            (MessageFilter { after: cursor(0), limit: Some(1), newest: true, ..of_agent.clone() },
                vec!["3"]),
            (MessageFilter { before: cursor(2), ..of_agent.clone() }, vec![system, "0", "1"]),
            (MessageFilter {
                before: cursor(2), limit: Some(1), newest: true, ..of_agent.clone()
            }, vec!["1"]),
            (MessageFilter { after: cursor(0), before: cursor(2), ..of_agent.clone() },
                vec!["1"]),
            (MessageFilter { run_id, ..Default::default() }, vec!["0", "1"]),
            (MessageFilter { step_id, ..Default::default() }, vec!["1"]),
            (MessageFilter {
                roles: Some(vec![Role::User, Role::Summary]), ..of_agent.clone()
            }, vec!["0", "2", "3"]),
            (MessageFilter { roles: Some(vec![]), ..of_agent.clone() }, vec![]),
            (MessageFilter { thread: ThreadFilter::Default, ..of_agent.clone() },
                vec![system, "0", "1", "2", "3"]),
        ] {
            assert_eq!(found(&store, &filter).await, expected, "{filter:?}");
        }
        let foreign = context(&store, &other).await[0];
        for after in [MessageId::random(), foreign] {
            let filter = MessageFilter { after: Some(after), ..of_agent.clone() };
            let error = store.messages(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
    }

    async fn messages_come_by_id_in_the_order_that_was_asked_for(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let (other, _) = new_agent(&store).await;
        // More than one statement names.
        let messages: Vec<_> = (0..600)
            .map(|number| Message::text(agent, Role::User, number.to_string()))
            .collect();
        add(&store, agent, messages.clone()).await;
        for count in [0, 1, 8, 9, 65, 600] {
            let expected: Vec<_> = messages[..count].iter().rev().cloned().collect();
            let ids: Vec<_> = expected.iter().map(|message| message.id).collect();
            assert_eq!(store.messages_by_ids(&agent, &ids).await.unwrap(), expected);
        }
        let foreign = context(&store, &other).await[0];
        for unknown in [MessageId::random(), foreign] {
            let ids = [messages[0].id, unknown];
            let error = store.messages_by_ids(&agent, &ids).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
    }

    async fn a_search_finds_words_those_with_the_most_first(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let (other, _) = new_agent(&store).await;
        add(&store, other, vec![Message::text(other, Role::User, "red apple")]).await;
        let mut messages: Vec<_> = [
            "A red APPLE a day", "green apples", "Red wine", "Straße 100%", "東京タワー", "nul\0",
        ].into_iter().map(|text| Message::text(agent, Role::User, text)).collect();
        messages[1].role = Role::Assistant;
        for (number, message) in (0..).zip(&mut messages) {
            message.created_at = Timestamp::from_micros(number);
        }
        add(&store, agent, messages.clone()).await;
        add(&store, agent, exchange(agent, "weather")).await;
        let base = MessageSearch { agent_id: Some(agent), ..Default::default() };
        let query = |query: &str| MessageSearch { query: Some(query.to_owned()), ..base.clone() };
        let time = |micros| Some(Timestamp::from_micros(micros));
        for (search, expected) in [
            (query("apple, RED!"), vec![
                ("A red APPLE a day", 1.0), ("Red wine", 0.5), ("green apples", 0.5),
            ]),
            (query("STRASSE"), vec![]),
            (query("straße"), vec![("Straße 100%", 1.0)]),
            (query("%"), vec![("Straße 100%", 1.0)]),
            (query("京タ"), vec![("東京タワー", 1.0)]),
            (query("'; DROP TABLE messages"), vec![]),
            (query("sunny"), vec![("It is sunny.", 1.0), ("", 1.0)]),
            (MessageSearch { roles: Some(vec![Role::Assistant]), ..query("apple") },
                vec![("green apples", 1.0)]),
            (MessageSearch { since: time(1), until: time(3), ..query("red apple") },
                vec![("Red wine", 0.5), ("green apples", 0.5)]),
            (MessageSearch { exclude: vec![messages[0].id, messages[2].id], ..query("red apple") },
                vec![("green apples", 0.5)]),
            (MessageSearch { limit: Some(1), ..query("red apple") },
                vec![("A red APPLE a day", 1.0)]),
            (MessageSearch { limit: Some(1), ..base.clone() }, vec![("It is sunny.", 1.0)]),
        ] {
            let found = store.search_messages(&search).await.unwrap();
            let found: Vec<_> =
                found.iter().map(|(message, share)| (message.plain_text(), *share)).collect();
            let found: Vec<_> =
                found.iter().map(|(text, share)| (text.as_str(), *share)).collect();
            assert_eq!(found, expected, "{search:?}");
        }
    }

    async fn a_search_leaves_out_results_of_one_tool_and_messages_without_text(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        add(&store, agent, exchange(agent, "weather")).await;
        add(&store, agent, exchange(agent, "other")).await;
        let base = MessageSearch {
            agent_id: Some(agent), query: Some("sunny".to_owned()),
            roles: Some(vec![Role::Tool]), ..Default::default()
        };
        for (search, expected) in [
            (base.clone(), &["other", "weather"][..]),
            (MessageSearch { exclude_results_of: Some("weather"), ..base.clone() }, &["other"]),
            (MessageSearch { exclude_results_of: Some("eath"), ..base.clone() },
                &["other", "weather"]),
        ] {
            let found = store.search_messages(&search).await.unwrap();
            let names: Vec<_> =
                found.iter().map(|(message, _)| message.tool_returns[0].name.as_str()).collect();
            assert_eq!(names, expected, "{search:?}");
        }
        let newest = MessageSearch { query: None, roles: None, ..base };
        let is_silent = |found: &[(Message, f64)]| {
            let silent = |message: &Message| {
                message.spoken().is_empty() && message.tool_returns.is_empty()
            };
            found.iter().any(|(message, _)| silent(message))
        };
        assert!(is_silent(&store.search_messages(&newest).await.unwrap()));
        let speaking = MessageSearch { with_text: true, ..newest };
        assert!(!is_silent(&store.search_messages(&speaking).await.unwrap()));
    }

    async fn what_is_said_by_the_speaking_tool_is_found(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let mut said = Message::new(agent, Role::Assistant);
        said.tool_calls = vec![ToolCall {
            id: "call_1".to_owned(),
            name: SPEAKING_TOOL.to_owned(),
            arguments: r#"{"message": "Tigers purr."}"#.to_owned(),
            signature: None,
        }];
        add(&store, agent, vec![said.clone()]).await;
        let search = MessageSearch {
            agent_id: Some(agent), query: Some("tigers".to_owned()), ..Default::default()
        };
        let found = store.search_messages(&search).await.unwrap();
        assert_eq!(found, [(said, 1.0)]);
    }

    async fn a_list_of_large_messages_ends_early(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let size = 7 << 20;
        for _ in 0..6 {
            add(&store, agent, vec![Message::text(agent, Role::User, "x".repeat(size))]).await;
        }
        let newest = MessageFilter {
            agent_id: Some(agent), newest: true, ..Default::default()
        };
        let messages = store.messages(&newest).await.unwrap();
        assert_eq!(messages.len(), usize::try_from(PAGE_BYTES_MAX).unwrap() / size + 1);
        let too_large = Message::text(agent, Role::User, "x".repeat(9 << 20));
        assert!(matches!(expect_storable(&too_large), Err(StoreError::Quota { .. })));
        let mut too_deep = Message::new(agent, Role::Approval);
        let deep = format!("{}{}", "[".repeat(110), "]".repeat(110));
        too_deep.approvals.push(Approval::Tool {
            tool_call_id: "call".to_owned(),
            tool_return: serde_json::from_str(&deep).unwrap(),
            status: ToolStatus::Success,
            stdout: None,
            stderr: None,
        });
        assert!(matches!(expect_storable(&too_deep), Err(StoreError::Invalid { .. })));
    }
}
