use bulkhead_domain::{
    Agent, AgentType, Block, LlmConfig, Message, Part, Role, StopReason, Timestamp, ToolRule,
    id::{AgentId, BlockId, IdentityId, MessageId},
    platform::Standing,
    tool_rule::RuleKind,
};
use bulkhead_store::{
    AgentFilter, AgentRelations, NewAgent, StateNamespace, Store, StoreError, agent::limits,
};
use serde_json::json;

use super::{block, identity, raw, tool::custom};

/// An agent with nothing but what it must have.
pub(crate) fn agent(name: &str) -> Agent {
    let now = Timestamp::now();
    Agent {
        id: AgentId::random(),
        name: name.to_owned(),
        agent_type: AgentType::default(),
        system: "You are it.".to_owned(),
        description: None,
        metadata: None,
        message_ids: Vec::new(),
        llm_config: LlmConfig::new("bulkhead", "bulkhead", "scripted", 128_000),
        embedding_config: None,
        compaction_settings: None,
        response_format: None,
        tool_rules: Vec::new(),
        message_buffer_autoclear: false,
        enable_sleeptime: None,
        timezone: "UTC".to_owned(),
        max_files_open: None,
        per_file_view_window_char_limit: None,
        hidden: None,
        last_stop_reason: None,
        last_run_completion: None,
        last_run_duration_ms: None,
        recompiled_at: now,
        project_id: None,
        template_id: None,
        base_template_id: None,
        deployment_id: None,
        entity_id: None,
        fallback_models: Vec::new(),
        standing: Standing::Active,
        created_by_id: None,
        last_updated_by_id: None,
        created_at: now,
        updated_at: now,
    }
}

/// Stores an agent on which nothing hangs.
pub(crate) async fn made(store: &Store, name: &str) -> Agent {
    let agent = agent(name);
    store
        .create_agent(&NewAgent::new(agent.clone()))
        .await
        .unwrap();
    agent
}

/// Stores tools; gives their ids.
pub(crate) async fn tools<const N: usize>(store: &Store, names: [&str; N]) -> [String; N] {
    let mut ids = Vec::new();
    for name in names {
        ids.push(store.upsert_tool(custom(name)).await.unwrap().record.id);
    }
    ids.try_into().unwrap()
}

fn message(agent: &Agent, role: Role, text: &str) -> Message {
    Message {
        id: MessageId::random(),
        agent_id: agent.id,
        conversation_id: None,
        run_id: None,
        step_id: None,
        role,
        content: vec![Part::text(text)],
        tool_calls: vec![],
        tool_returns: vec![],
        approvals: vec![],
        otid: None,
        name: None,
        sender_id: None,
        group_id: None,
        model: None,
        is_err: None,
        created_at: Timestamp::now(),
    }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

async fn blocks(store: &Store, agent: &Agent) -> Vec<Block> {
    store
        .blocks_of(&[agent.id])
        .await
        .unwrap()
        .remove(&agent.id)
        .unwrap()
}

async fn tool_names(store: &Store, agent: &Agent) -> Vec<String> {
    let tools = store
        .tools_of(&[agent.id])
        .await
        .unwrap()
        .remove(&agent.id)
        .unwrap();
    tools.iter().map(|tool| tool.name.clone()).collect()
}

async fn secrets(store: &Store, agent: &Agent) -> Vec<(String, String)> {
    let secrets = store
        .secrets_of(&[agent.id])
        .await
        .unwrap()
        .remove(&agent.id)
        .unwrap();
    secrets
        .into_iter()
        .map(|secret| (secret.key, secret.value))
        .collect()
}

fn unchanged(_: &mut Agent) -> Result<(), StoreError> {
    Ok(())
}

on_both! {
    async fn an_agent_reads_back_with_all_that_hangs_on_it(database) {
        let store = database.open().await;
        let shared = block::made(&store, "human", "A person 🦀").await;
        let [dice, clock] = tools(&store, ["dice", "clock"]).await;
        let owner = identity::made(&store, "owner").await;
        let mut new = NewAgent::new(Agent {
            description: Some("ä\0".to_owned()),
            metadata: Some(json!({ "deep": [[{ "nul": "\0" }]] })),
            tool_rules: vec![ToolRule::new("dice", RuleKind::ExitLoop)],
            hidden: Some(false),
            last_stop_reason: Some(StopReason::EndTurn),
            last_run_completion: Some(Timestamp::from_micros(7)),
            last_run_duration_ms: Some(8),
            project_id: Some("project".to_owned()),
            template_id: Some("template".to_owned()),
            base_template_id: Some("base".to_owned()),
            created_by_id: Some("user".to_owned()),
            ..agent("full")
        });
        let first = message(&new.agent, Role::System, "Be.");
        let second = message(&new.agent, Role::User, "Hello.");
        new.agent.message_ids = vec![first.id];
        new.messages = vec![first.clone(), second.clone()];
        new.new_blocks = vec![block::block("persona", "I am."), block::block("notes", "")];
        new.block_ids = vec![shared.id, shared.id];
        new.tool_ids = vec![dice.clone(), clock.clone(), dice.clone()];
        new.tags = texts(["b", "a", "b"]);
        new.secrets = pairs([("KEY", "staple 🦀"), ("A", "")]);
        new.identity_ids = vec![owner.id];
        assert!(!format!("{new:?}").contains("staple"));
        store.create_agent(&new).await.unwrap();

        let id = new.agent.id;
        assert_eq!(store.agent(&id).await.unwrap(), Some(new.agent.clone()));
        assert_eq!(store.agent(&AgentId::random()).await.unwrap(), None);
        let mut expected = new.new_blocks.clone();
        expected.push(shared);
        assert_eq!(blocks(&store, &new.agent).await, expected);
        assert_eq!(tool_names(&store, &new.agent).await, ["dice", "clock"]);
        assert_eq!(secrets(&store, &new.agent).await, pairs([("A", ""), ("KEY", "staple 🦀")]));
        assert_eq!(store.tags_of(&[id]).await.unwrap()[&id], ["a", "b"]);
        assert_eq!(store.identities_of(&[id]).await.unwrap()[&id][0].agent_ids, [id]);
        let stored = store.messages_by_ids(&id, &[second.id, first.id]).await.unwrap();
        assert_eq!(stored, [second, first]);
        let error = store.create_agent(&new).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "agent", .. }), "{error:?}");
    }

    async fn relations_of_many_agents_come_at_once_and_each_with_its_own(database) {
        let store = database.open().await;
        let shared = block::made(&store, "human", "").await;
        let [dice, clock] = tools(&store, ["dice", "clock"]).await;
        let owner = identity::made(&store, "owner").await;
        let mut agents = Vec::new();
        for (name, tool_ids) in [("a", vec![clock.clone(), dice]), ("b", vec![clock]), ("c",
            vec![])] {
            let new = NewAgent {
                new_blocks: vec![block::block("own", name)],
                block_ids: vec![shared.id],
                tool_ids,
                tags: texts([name, "all"]),
                secrets: pairs([("NAME", name)]),
                identity_ids: vec![owner.id],
                ..NewAgent::new(agent(name))
            };
            store.create_agent(&new).await.unwrap();
            agents.push(new.agent);
        }
        let bare = made(&store, "bare").await;
        let mut ids: Vec<_> = agents.iter().map(|agent| agent.id).collect();
        ids.push(bare.id);
        let tools = store.tools_of(&ids).await.unwrap();
        assert!(std::sync::Arc::ptr_eq(&tools[&ids[0]][0], &tools[&ids[1]][0]));
        let names = |id| tools[id].iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
        assert_eq!([names(&ids[0]), names(&ids[1]), names(&ids[2])],
            [vec!["clock", "dice"], vec!["clock"], vec![]]);
        let blocks = store.blocks_of(&ids).await.unwrap();
        let secrets = store.secrets_of(&ids).await.unwrap();
        let tags = store.tags_of(&ids).await.unwrap();
        let identities = store.identities_of(&ids).await.unwrap();
        for agent in &agents {
            let id = &agent.id;
            assert_eq!((blocks[id][0].value.as_str(), blocks[id][1].id), (&*agent.name, shared.id));
            assert_eq!((&secrets[id][0].value, secrets[id][0].agent_id), (&agent.name, *id));
            assert_eq!(tags[id], texts([&agent.name, "all"]).into_iter()
                .collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            assert_eq!(identities[id][0].agent_ids, ids[..3]);
        }
        assert!(blocks[&bare.id].is_empty() && secrets[&bare.id].is_empty());
        assert!(tags[&bare.id].is_empty() && identities[&bare.id].is_empty());
        assert!(store.blocks_of(&[]).await.unwrap().is_empty());
        assert!(store.identities_of(&[]).await.unwrap().is_empty());
    }

    async fn an_agent_that_names_what_is_not_there_is_not_made_at_all(database) {
        let store = database.open().await;
        let [known] = tools(&store, ["dice"]).await;
        let human = block::made(&store, "human", "").await;
        let new = NewAgent { new_blocks: vec![block::block("persona", "")],
            ..NewAgent::new(agent("a")) };
        let (gone, nobody) = (BlockId::random(), IdentityId::random());
        let cases = [
            (NewAgent { tool_ids: vec![known.clone(), "tool-1".to_owned(), "tool-2".to_owned()],
                ..new.clone() }, "there is no tool tool-1, tool-2".to_owned()),
            (NewAgent { block_ids: vec![human.id, gone], ..new.clone() },
                format!("there is no block {gone}")),
            (NewAgent { identity_ids: vec![nobody], ..new.clone() },
                format!("there is no identity {nobody}")),
            (NewAgent { block_ids: vec![human.id], new_blocks: vec![block::block("human", "")],
                ..new.clone() },
                "there is already a block of this agent named human".to_owned()),
            (NewAgent { agent: Agent { name: String::new(), ..new.agent.clone() }, ..new.clone() },
                "the agent's name is empty".to_owned()),
            (NewAgent { agent: Agent { name: "a\0".to_owned(), ..new.agent.clone() },
                ..new.clone() },
                "the agent's name contains a NUL character".to_owned()),
            (NewAgent { agent: Agent { system: "x".repeat(limits::AGENT_BYTES_MAX),
                ..new.agent.clone() }, ..new.clone() }, "the agent is larger than 1 MiB".to_owned()),
            (NewAgent { secrets: pairs([("A=B", "")]), ..new.clone() },
                "the secret's key contains an equals sign, which no environment allows".to_owned()),
            (NewAgent { tags: (0..257).map(|tag| tag.to_string()).collect(), ..new.clone() },
                "the agent's list of tags is over its limit of 256".to_owned()),
        ];
        for (new, expected) in cases {
            let error = store.create_agent(&new).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for count in ["agents", "agent_blocks", "agent_tools", "agent_tags", "agent_secrets"] {
            let count = format!("SELECT COUNT(*) FROM {count}");
            assert_eq!(raw::number(&database, &count).await, 0, "{count}");
        }
        assert_eq!(raw::number(&database, "SELECT COUNT(*) FROM blocks").await, 1);
    }

    async fn an_update_changes_what_it_says_and_nothing_else(database) {
        let store = database.open().await;
        let [dice, clock] = tools(&store, ["dice", "clock"]).await;
        let human = block::made(&store, "human", "").await;
        let notes = block::made(&store, "notes", "").await;
        let owner = identity::made(&store, "owner").await;
        let mut new = NewAgent::new(agent("a"));
        new.tool_ids = vec![dice.clone()];
        new.block_ids = vec![human.id, notes.id];
        new.tags = texts(["old"]);
        new.secrets = pairs([("A", "1")]);
        store.create_agent(&new).await.unwrap();
        let id = new.agent.id;
        let ids = vec![MessageId::random(), MessageId::random()];
        let edit = |agent: &mut Agent| {
            "B".clone_into(&mut agent.name);
            agent.id = AgentId::random();
            agent.created_at = Timestamp::from_micros(1);
            agent.message_ids.clone_from(&ids);
            agent.last_stop_reason = Some(StopReason::MaxSteps);
            Ok::<_, StoreError>(())
        };
        let changed = store.update_agent(&id, edit, &AgentRelations::default()).await.unwrap();
        let expected = Agent {
            name: "B".to_owned(),
            message_ids: ids.clone(),
            last_stop_reason: Some(StopReason::MaxSteps),
            updated_at: changed.updated_at,
            ..new.agent.clone()
        };
        assert_eq!(changed, expected);
        assert_eq!(store.agent(&id).await.unwrap(), Some(expected.clone()));
        let filter = AgentFilter { query_text: Some("b".to_owned()), ..Default::default() };
        assert_eq!(store.agents(&filter).await.unwrap(), [expected]);
        assert_eq!(tool_names(&store, &new.agent).await, ["dice"]);
        assert_eq!(blocks(&store, &new.agent).await.len(), 2);
        assert_eq!(secrets(&store, &new.agent).await, pairs([("A", "1")]));

        let relations = AgentRelations {
            sleeptime: None,
            tool_ids: Some(vec![clock, dice]),
            block_ids: Some(vec![notes.id, human.id]),
            tags: Some(texts(["new"])),
            secrets: Some(pairs([("B", "2")])),
            identity_ids: Some(vec![owner.id]),
            ..Default::default()
        };
        let changed = store.update_agent(&id, unchanged, &relations).await.unwrap();
        assert_eq!(changed.message_ids, ids);
        assert_eq!(tool_names(&store, &new.agent).await, ["dice", "clock"], "one that stays, first");
        assert_eq!(blocks(&store, &new.agent).await, [notes, human]);
        assert_eq!(secrets(&store, &new.agent).await, pairs([("B", "2")]));
        assert_eq!(store.tags_of(&[id]).await.unwrap()[&id], ["new"]);
        assert_eq!(store.identities_of(&[id]).await.unwrap()[&id][0].id, owner.id);
        let none = AgentRelations {
            sleeptime: None,
            tool_ids: Some(vec![]), block_ids: Some(vec![]), tags: Some(vec![]),
            secrets: Some(vec![]), identity_ids: Some(vec![]),
            ..Default::default()
        };
        store.update_agent(&id, unchanged, &none).await.unwrap();
        assert!(tool_names(&store, &new.agent).await.is_empty());
        assert!(blocks(&store, &new.agent).await.is_empty());
        assert!(store.identities_of(&[id]).await.unwrap()[&id].is_empty());
    }

    async fn an_update_that_fails_leaves_everything_as_it_was(database) {
        let store = database.open().await;
        let [dice] = tools(&store, ["dice"]).await;
        let new = NewAgent { tool_ids: vec![dice], ..NewAgent::new(agent("a")) };
        store.create_agent(&new).await.unwrap();
        let id = new.agent.id;
        let rename = |agent: &mut Agent| {
            "b".clone_into(&mut agent.name);
            Ok::<_, StoreError>(())
        };
        let unknown = AgentRelations {
            tool_ids: Some(texts(["tool-1"])), ..Default::default()
        };
        let error = store.update_agent(&id, rename, &unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownReferences { what: "tool", .. }), "{error:?}");
        let refused = |_: &mut Agent| Err(StoreError::Closed);
        let error = store.update_agent(&id, refused, &AgentRelations::default()).await.unwrap_err();
        assert!(matches!(error, StoreError::Closed));
        let nobody = AgentId::random();
        let error = store.update_agent(&nobody, unchanged, &AgentRelations::default()).await;
        assert_eq!(error.unwrap_err().to_string(), format!("there is no agent {nobody}"));
        assert_eq!(store.agent(&id).await.unwrap(), Some(new.agent.clone()));
        assert_eq!(tool_names(&store, &new.agent).await, ["dice"]);
    }

    async fn no_update_of_many_at_once_is_lost(database) {
        let store = database.open().await;
        let agent = made(&store, "a").await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..24 {
            let (store, id) = (store.clone(), agent.id);
            tasks.spawn(async move {
                let add = |agent: &mut Agent| {
                    agent.system.push('x');
                    agent.message_ids.push(MessageId::random());
                    Ok::<_, StoreError>(())
                };
                store.update_agent(&id, add, &AgentRelations::default()).await.unwrap();
            });
        }
        tasks.join_all().await;
        let stored = store.agent(&agent.id).await.unwrap().unwrap();
        assert_eq!(stored.system, agent.system + &"x".repeat(24));
        assert_eq!(stored.message_ids.len(), 24);
    }

    async fn secrets_are_replaced_as_a_set_and_a_key_that_stays_keeps_its_id(database) {
        let store = database.open().await;
        let agent = made(&store, "a").await;
        let put = async |secrets| {
            let relations = AgentRelations { secrets: Some(secrets), ..Default::default() };
            store.update_agent(&agent.id, unchanged, &relations).await.unwrap();
            store.secrets_of(&[agent.id]).await.unwrap().remove(&agent.id).unwrap()
        };
        let first = put(pairs([("A", "1"), ("B", "2"), ("C", "3")])).await;
        let second = put(pairs([("B", "2"), ("C", "4"), ("D", "5")])).await;
        let keys: Vec<_> = second.iter().map(|secret| secret.key.as_str()).collect();
        assert_eq!(keys, ["B", "C", "D"]);
        assert!(second[0] == first[1], "what stays is not written again");
        assert_eq!((second[1].id, second[1].created_at), (first[2].id, first[2].created_at));
        assert_eq!(second[1].value, "4");
        assert!(second[1].updated_at > first[2].updated_at);
    }

    async fn a_secret_is_sealed_and_opens_only_where_it_was_put(database) {
        let store = database.open().await;
        let new = NewAgent { secrets: pairs([("K", "staple")]), ..NewAgent::new(agent("a")) };
        store.create_agent(&new).await.unwrap();
        let other = made(&store, "b").await;
        let id = new.agent.id;
        let secret = store.secrets_of(&[id]).await.unwrap()[&id][0].clone();
        assert!(!format!("{secret:?}").contains("staple"));
        for (change, reader) in [
            ("key = 'L'".to_owned(), id),
            (format!("agent_id = '{}'", other.id), other.id),
            ("id = 'agent-env-00000000-0000-4000-8000-000000000000'".to_owned(), id),
        ] {
            database.script(&format!("UPDATE agent_secrets SET {change}")).await;
            let error = store.secrets_of(&[reader]).await.unwrap_err();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
            let back = format!("UPDATE agent_secrets SET key = 'K', agent_id = '{id}', id = '{}'",
                secret.id);
            database.script(&back).await;
            assert_eq!(secrets(&store, &new.agent).await, pairs([("K", "staple")]));
        }
        store.close().await;
        if let Some(folder) = database.folder() {
            for file in std::fs::read_dir(folder).unwrap() {
                let bytes = std::fs::read(file.unwrap().path()).unwrap();
                assert!(!bytes.windows(6).any(|part| part == b"staple"));
            }
        }
    }

    async fn a_deleted_agent_takes_its_own_and_leaves_what_others_use(database) {
        let store = database.open().await;
        let [dice] = tools(&store, ["dice"]).await;
        let shared = block::made(&store, "human", "").await;
        let owner = identity::made(&store, "owner").await;
        let mut deleted = Vec::new();
        for name in ["a", "b"] {
            let mut new = NewAgent::new(agent(name));
            new.messages = vec![message(&new.agent, Role::User, "Hello.")];
            new.block_ids = vec![shared.id];
            new.tool_ids = vec![dice.clone()];
            new.tags = texts(["t"]);
            new.secrets = pairs([("K", "v")]);
            new.identity_ids = vec![owner.id];
            store.create_agent(&new).await.unwrap();
            let space = StateNamespace::new("dice", Some(&new.agent.id.to_string()));
            store.state_put(&space, "k", b"v".to_vec(), None).await.unwrap();
            deleted.push((new.agent.id, space));
        }
        let (id, space) = &deleted[0];
        assert!(store.delete_agent(id).await.unwrap());
        assert!(!store.delete_agent(id).await.unwrap());
        assert_eq!(store.agent(id).await.unwrap(), None);
        assert!(store.state_get(space, "k").await.unwrap().is_none());
        assert!(store.state_get(&deleted[1].1, "k").await.unwrap().is_some());
        for table in ["agents", "messages", "agent_blocks", "agent_tools", "agent_tags",
            "agent_secrets", "identity_agents", "blocks", "tools", "identities"] {
            let count = format!("SELECT COUNT(*) FROM {table}");
            assert_eq!(raw::number(&database, &count).await, 1, "{table}");
        }
        assert_eq!(store.agent_ids_of_block(&shared.id).await.unwrap(), [deleted[1].0]);
    }

    async fn tools_are_attached_and_detached_once(database) {
        let store = database.open().await;
        let [dice, clock] = tools(&store, ["dice", "clock"]).await;
        let agent = made(&store, "a").await;
        let other = made(&store, "b").await;
        assert!(store.attach_tool(&agent.id, &clock).await.unwrap());
        assert!(store.attach_tool(&agent.id, &dice).await.unwrap());
        assert!(!store.attach_tool(&agent.id, &clock).await.unwrap());
        assert!(store.attach_tool(&other.id, &dice).await.unwrap());
        assert_eq!(tool_names(&store, &agent).await, ["clock", "dice"]);
        let found = store.tool_of_agent(&agent.id, "dice").await.unwrap().unwrap();
        assert_eq!(found.id, dice);
        assert_eq!(store.tool_of_agent(&other.id, "clock").await.unwrap(), None);
        let filter = AgentFilter { tool_id: Some(clock.clone()), ..Default::default() };
        assert_eq!(store.agents(&filter).await.unwrap(), std::slice::from_ref(&agent));
        let filter = bulkhead_store::ToolFilter {
            agent_id: Some(agent.id), limit: Some(1), ascending: true, ..Default::default()
        };
        assert_eq!(store.tools(&filter).await.unwrap()[0].id, dice, "by age, in pages");
        assert_eq!(store.count_tools(&filter).await.unwrap(), 2);

        assert!(store.detach_tool(&agent.id, &clock).await.unwrap());
        assert!(!store.detach_tool(&agent.id, &clock).await.unwrap());
        assert!(store.delete_tool(&dice).await.unwrap());
        assert!(tool_names(&store, &agent).await.is_empty());
        let error = store.attach_tool(&agent.id, &dice).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "tool", .. }), "{error:?}");
        let nobody = AgentId::random();
        for error in [
            store.attach_tool(&nobody, &clock).await.unwrap_err(),
            store.detach_tool(&nobody, &clock).await.unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NotFound { what: "agent", .. }), "{error:?}");
        }
    }
}
