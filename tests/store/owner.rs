use std::collections::HashMap;

use bulkhead_domain::{
    Agent, Archive, Block, Conversation, Identity, IdentityType, Message, Passage, Timestamp,
    id::{AgentId, IdentityId},
    platform::{User, UserId},
};
use bulkhead_store::{
    AgentFilter, ArchiveFilter, BlockFilter, ConversationFilter, IdentityFilter, IdentityRelations,
    MessageSearch, NewAgent, NewTool, PassageSearch, RunFilter, StepFilter, Store, StoreError,
    ToolFilter, owner::Owner,
};

use super::{
    agent::agent,
    block::block,
    history::{adding, context, run, step},
    mcp_server::mcp_server,
    tool::custom,
    user,
};

/// One thing of each kind that a user made, or nobody of the platform; in the order of [`seen`].
struct Things {
    ids: Vec<String>,
    agent: AgentId,
}

impl Things {
    async fn made(store: &Store, name: &str, creator: Option<String>) -> Self {
        let owned = Agent {
            created_by_id: creator.clone(),
            ..agent(name)
        };
        let id = owned.id;
        // What is made for an agent is whose the agent is.
        let new_block = block("human", "");
        let new = NewAgent {
            new_blocks: vec![new_block.clone()],
            ..NewAgent::new(owned)
        };
        store.create_agent(&new).await.unwrap();
        let own_block = Block {
            created_by_id: creator.clone(),
            ..block("own", "")
        };
        store.create_block(&own_block).await.unwrap();
        let tools_block = block("made by a tool", "");
        store.create_block_for(&id, &tools_block).await.unwrap();
        let tool = NewTool {
            user_id: creator.clone(),
            ..custom(name)
        };
        let tool = store.upsert_tool(tool).await.unwrap().record;
        let own_archive = Archive {
            created_by_id: creator.clone(),
            ..Archive::new("own")
        };
        store.create_archive(&own_archive).await.unwrap();
        let default = store.default_archive(&id, &Archive::new("default")).await;
        let default = default.unwrap();
        let passage = Passage::new(default.id, "a word");
        store
            .insert_passages(std::slice::from_ref(&passage))
            .await
            .unwrap();
        let identity = identity(name, creator);
        store.create_identity(&identity).await.unwrap();
        let conversation = Conversation::new(id);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let run = run(id);
        store.create_run(&run).await.unwrap();
        let said = Message::text(id, bulkhead_domain::Role::User, "a word");
        let mut commit = adding(id, &context(store, &id).await, vec![said.clone()]);
        let step = step(id, Some(run.id));
        let step_id = step.id;
        commit.step = Some(step);
        store.commit_step(&commit).await.unwrap();
        let ids = vec![
            id.to_string(),
            new_block.id.to_string(),
            own_block.id.to_string(),
            tools_block.id.to_string(),
            tool.id,
            own_archive.id.to_string(),
            default.id.to_string(),
            identity.id.to_string(),
            conversation.id.to_string(),
            run.id.to_string(),
            step_id.to_string(),
            said.id.to_string(),
            passage.id.to_string(),
        ];
        Self { ids, agent: id }
    }
}

fn identity(name: &str, created_by_id: Option<String>) -> Identity {
    let now = Timestamp::now();
    Identity {
        id: IdentityId::random(),
        identifier_key: name.to_owned(),
        name: name.to_owned(),
        identity_type: IdentityType::User,
        project_id: None,
        properties: Vec::new(),
        agent_ids: Vec::new(),
        block_ids: Vec::new(),
        created_by_id,
        created_at: now,
        updated_at: now,
    }
}

/// The ids of all that lists and searches show to a user.
async fn seen(store: &Store, created_by: Option<UserId>) -> Vec<String> {
    let mut ids = Vec::new();
    let filter = AgentFilter {
        created_by,
        ..Default::default()
    };
    let found = store.agents(&filter).await.unwrap();
    assert_eq!(
        store.count_agents(&filter).await.unwrap(),
        found.len() as u64
    );
    ids.extend(found.iter().map(|agent| agent.id.to_string()));
    let filter = BlockFilter {
        created_by,
        ..Default::default()
    };
    let found = store.blocks(&filter).await.unwrap();
    assert_eq!(
        store.count_blocks(&filter).await.unwrap(),
        found.len() as u64
    );
    ids.extend(found.iter().map(|block| block.id.to_string()));
    let filter = ToolFilter {
        created_by,
        ..Default::default()
    };
    let found = store.tools(&filter).await.unwrap();
    assert_eq!(
        store.count_tools(&filter).await.unwrap(),
        found.len() as u64
    );
    ids.extend(found.into_iter().map(|tool| tool.id));
    let filter = ArchiveFilter {
        created_by,
        ..Default::default()
    };
    let found = store.archives(&filter).await.unwrap();
    ids.extend(found.iter().map(|archive| archive.id.to_string()));
    let filter = IdentityFilter {
        created_by,
        ..Default::default()
    };
    let found = store.identities(&filter).await.unwrap();
    assert_eq!(
        store.count_identities(&filter).await.unwrap(),
        found.len() as u64
    );
    ids.extend(found.iter().map(|identity| identity.id.to_string()));
    let filter = ConversationFilter {
        created_by,
        ..Default::default()
    };
    let found = store.conversations(&filter).await.unwrap();
    ids.extend(found.iter().map(|conversation| conversation.id.to_string()));
    let filter = RunFilter {
        created_by,
        ..Default::default()
    };
    let found = store.runs(&filter).await.unwrap();
    assert_eq!(store.count_runs(&filter).await.unwrap(), found.len() as u64);
    ids.extend(found.iter().map(|run| run.id.to_string()));
    let filter = StepFilter {
        created_by,
        ..Default::default()
    };
    let found = store.steps(&filter).await.unwrap();
    ids.extend(found.iter().map(|step| step.id.to_string()));
    let query = Some("word".to_owned());
    let search = MessageSearch {
        created_by,
        query: query.clone(),
        ..Default::default()
    };
    let found = store.search_messages(&search).await.unwrap();
    ids.extend(found.iter().map(|(message, _)| message.id.to_string()));
    let search = PassageSearch {
        created_by,
        query,
        ..Default::default()
    };
    let found = store.search_passages(&search).await.unwrap();
    ids.extend(found.iter().map(|(passage, _)| passage.id.to_string()));
    ids.sort();
    ids
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

/// Two users, and what each of them made and what nobody of the platform made.
async fn world(store: &Store) -> ([User; 2], [Things; 3]) {
    let users = [
        user::made(store, "ada@example.com").await,
        user::made(store, "bob@example.com").await,
    ];
    let things = [
        Things::made(store, "of ada", Some(users[0].id.to_string())).await,
        Things::made(store, "of bob", Some(users[1].id.to_string())).await,
        // A creator that looks like a user of the platform, and is none.
        Things::made(store, "of nobody", Some(UserId::random().to_string())).await,
    ];
    (users, things)
}

on_both! {
    async fn lists_show_a_user_what_this_user_made_and_tools_that_no_user_made(database) {
        let store = database.open().await;
        let ([ada, bob], [of_ada, of_bob, of_nobody]) = world(&store).await;
        let tool = of_nobody.ids[4].clone();
        for (user, own) in [(&ada, &of_ada), (&bob, &of_bob)] {
            let mut expected = own.ids.clone();
            expected.push(tool.clone());
            assert_eq!(seen(&store, Some(user.id)).await, sorted(expected));
        }
        assert_eq!(seen(&store, Some(UserId::random())).await, [tool]);
        let filter = AgentFilter { of_no_user: true, ..Default::default() };
        let found = store.agents(&filter).await.unwrap();
        assert_eq!((found.len(), found[0].id), (1, of_nobody.agent));
        let all = [of_ada.ids, of_bob.ids, of_nobody.ids].concat();
        assert_eq!(seen(&store, None).await, sorted(all));
    }

    async fn whose_a_thing_is_is_told_by_its_id(database) {
        let store = database.open().await;
        let ([ada, bob], [of_ada, of_bob, of_nobody]) = world(&store).await;
        let mut expected = HashMap::new();
        for (things, owner) in [
            (&of_ada, Owner::User(ada.id)),
            (&of_bob, Owner::User(bob.id)),
            (&of_nobody, Owner::Operator),
        ] {
            expected.extend(things.ids.iter().map(|id| (id.clone(), owner)));
        }
        expected.insert(of_nobody.ids[4].clone(), Owner::Everybody);
        let not_there = AgentId::random().to_string();
        let mut ids: Vec<&str> = expected.keys().map(String::as_str).collect();
        ids.extend([not_there.as_str(), of_ada.ids[0].as_str(), "agent-\0", "agent-", "x", ""]);
        assert_eq!(store.owners(&ids).await.unwrap(), expected);
        assert_eq!(store.owners(&[]).await.unwrap(), HashMap::new());
        let error = store.owners(&["agent-1"; 1001]).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
        store.delete_agent(&of_ada.agent).await.unwrap();
        let run = of_ada.ids[9].as_str();
        assert_eq!(store.owners(&[run]).await.unwrap(), HashMap::new());
    }

    async fn a_thing_that_is_changed_stays_whose_it_is(database) {
        let store = database.open().await;
        let ([ada, bob], [of_ada, _, _]) = world(&store).await;
        let (block, archive) = (&of_ada.ids[1], &of_ada.ids[6]);
        let retitle = |block: &mut Block| {
            block.value = "new".to_owned();
            Ok::<_, StoreError>(())
        };
        store.update_block(&block.parse().unwrap(), retitle, "").await.unwrap();
        let rename = |archive: &mut Archive| {
            archive.name = "new".to_owned();
            archive.created_by_id = Some(bob.id.to_string());
        };
        store.update_archive(&archive.parse().unwrap(), rename).await.unwrap();
        let put = identity("of ada", Some(bob.id.to_string()));
        let none = IdentityRelations::default();
        let put = store.upsert_identity(&put, &none).await.unwrap();
        assert!(!put.is_new);
        let identity = put.record.id.to_string();
        assert_eq!(identity, of_ada.ids[7]);
        let ids = [block.as_str(), archive.as_str(), identity.as_str()];
        let expected = ids.map(|id| (id.to_owned(), Owner::User(ada.id)));
        assert_eq!(store.owners(&ids).await.unwrap(), HashMap::from(expected));
    }

    async fn a_tool_of_an_mcp_server_is_the_operators_alone(database) {
        let store = database.open().await;
        let ([ada, _], _) = world(&store).await;
        let before = seen(&store, Some(ada.id)).await;
        let server = mcp_server(&store).await;
        let tool = store.mcp_tool(&server, "look").await.unwrap().unwrap();
        let owners = store.owners(&[tool.id.as_str()]).await.unwrap();
        assert_eq!(owners, HashMap::from([(tool.id.clone(), Owner::Operator)]));
        assert_eq!(seen(&store, Some(ada.id)).await, before);
        assert!(seen(&store, None).await.contains(&tool.id));
        // Also where a user once had a tool of this name.
        let taken = "UPDATE tools SET created_by_id = (SELECT MIN(id) FROM users)
            WHERE mcp_server_id IS NOT NULL";
        database.script(taken).await;
        let owners = store.owners(&[tool.id.as_str()]).await.unwrap();
        assert_eq!(owners[&tool.id], Owner::Operator);
    }
}
