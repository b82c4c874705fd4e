use bulkhead_domain::{
    Block, Timestamp,
    id::{AgentId, BlockId},
};
use bulkhead_store::{
    BlockFilter, NewAgent, Paging, Store, StoreError,
    block::{BLOCK_VALUE_MAX, HISTORY_MAX},
};
use serde_json::json;

use super::{
    agent::{agent, made as made_agent},
    identity, raw,
};

/// A block with nothing but what it must have.
pub(crate) fn block(label: &str, value: &str) -> Block {
    let now = Timestamp::now();
    Block {
        id: BlockId::random(),
        label: label.to_owned(),
        value: value.to_owned(),
        limit: bulkhead_domain::block::LIMIT_DEFAULT,
        description: None,
        read_only: false,
        metadata: None,
        tags: Vec::new(),
        hidden: None,
        is_template: false,
        template_name: None,
        template_id: None,
        base_template_id: None,
        deployment_id: None,
        entity_id: None,
        preserve_on_migration: None,
        project_id: None,
        created_by_id: None,
        last_updated_by_id: None,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

/// Stores a block.
pub(crate) async fn made(store: &Store, label: &str, value: &str) -> Block {
    let block = block(label, value);
    store.create_block(&block).await.unwrap();
    block
}

fn set(value: &str) -> impl FnOnce(&mut Block) -> Result<(), StoreError> + Send {
    move |block| {
        value.clone_into(&mut block.value);
        Ok(())
    }
}

fn named(label: &str) -> impl FnOnce(&mut Block) -> Result<(), StoreError> + Send {
    move |block| {
        label.clone_into(&mut block.label);
        Ok(())
    }
}

async fn labels(store: &Store, agent: &AgentId) -> Vec<String> {
    let blocks = store
        .blocks_of(&[*agent])
        .await
        .unwrap()
        .remove(agent)
        .unwrap();
    blocks.into_iter().map(|block| block.label).collect()
}

on_both! {
    async fn a_block_reads_back_as_it_was_put(database) {
        let store = database.open().await;
        let full = Block {
            limit: 7,
            description: Some("what for 🦀".to_owned()),
            read_only: true,
            metadata: Some(json!({ "nul": "\0", "deep": [[1.5]] })),
            tags: vec!["b".to_owned(), "a".to_owned(), "b".to_owned()],
            hidden: Some(true),
            is_template: true,
            template_name: Some("pattern".to_owned()),
            preserve_on_migration: Some(false),
            project_id: Some("project".to_owned()),
            created_by_id: Some("user".to_owned()),
            ..block("human", &"longer than its limit 🦀".repeat(100))
        };
        store.create_block(&full).await.unwrap();
        assert_eq!(store.block(&full.id).await.unwrap(), Some(full.clone()));
        assert_eq!(store.block(&BlockId::random()).await.unwrap(), None);
        let error = store.create_block(&full).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "block", .. }), "{error:?}");
        for (unusable, expected) in [
            (block("", ""), "the block's label is empty"),
            (block("a", "\0"), "the block's value contains a NUL character"),
            (block("a", &"x".repeat(BLOCK_VALUE_MAX + 1)),
                "the block's value is over its limit of 1048576"),
            (Block { version: 0, ..block("a", "") }, "the block has a version below 1"),
        ] {
            let error = store.create_block(&unusable).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!(store.block(&unusable.id).await.unwrap(), None);
        }
        let many: Vec<_> = (0..700).map(|number| block("many", &number.to_string())).collect();
        store.create_blocks(&many).await.unwrap();
        let last = many.last().unwrap();
        assert_eq!(store.block(&last.id).await.unwrap().as_ref(), Some(last));
        let filter = BlockFilter { label: Some("many".to_owned()), ..Default::default() };
        assert_eq!(store.count_blocks(&filter).await.unwrap(), 700);
    }

    async fn a_change_is_a_new_version_and_a_new_value_is_written_down(database) {
        let store = database.open().await;
        let first = Block { created_by_id: Some("maker".to_owned()), ..block("human", "one") };
        store.create_block(&first).await.unwrap();
        let history = async || store.block_history(&first.id, None).await.unwrap();
        let only = history().await;
        assert_eq!((only.len(), only[0].value.as_str(), only[0].version), (1, "one", 1));
        assert_eq!((only[0].actor.as_str(), only[0].at), ("maker", first.created_at));

        let same = store.update_block(&first.id, set("one"), "nobody").await.unwrap();
        assert_eq!(same, first, "nothing changed, nothing is written");
        let describe = |block: &mut Block| {
            block.description = Some("Who it is.".to_owned());
            block.tags = vec!["t".to_owned()];
            block.id = BlockId::random();
            block.version = 70;
            block.created_at = Timestamp::from_micros(1);
            Ok::<_, StoreError>(())
        };
        let second = store.update_block(&first.id, describe, "user").await.unwrap();
        let expected = Block {
            description: Some("Who it is.".to_owned()),
            tags: vec!["t".to_owned()],
            version: 2,
            updated_at: second.updated_at,
            ..first.clone()
        };
        assert_eq!(second, expected);
        assert_eq!(history().await, only, "the value is what it was");
        let third = store.update_block(&first.id, set("two"), "tool").await.unwrap();
        assert_eq!((third.version, third.value.as_str()), (3, "two"));
        assert_eq!(store.block(&first.id).await.unwrap(), Some(third.clone()));
        let both = history().await;
        assert_eq!(both[1..], only);
        assert_eq!((both[0].version, both[0].value.as_str(), both[0].actor.as_str(), both[0].at),
            (3, "two", "tool", third.updated_at));
        assert_eq!(store.block_history(&first.id, Some(1)).await.unwrap(), both[..1]);

        let refused = |_: &mut Block| Err(StoreError::Closed);
        assert!(store.update_block(&first.id, refused, "").await.is_err());
        let nothing = BlockId::random();
        let error = store.update_block(&nothing, set(""), "").await.unwrap_err();
        assert_eq!(error.to_string(), format!("there is no block {nothing}"));
        assert!(store.block_history(&nothing, None).await.unwrap().is_empty());
        assert_eq!(history().await, both);
        assert!(store.delete_block(&first.id).await.unwrap());
        assert!(!store.delete_block(&first.id).await.unwrap());
        assert!(history().await.is_empty());
        assert_eq!(raw::number(&database, "SELECT COUNT(*) FROM block_changes").await, 0);
    }

    async fn a_history_keeps_the_newest_values(database) {
        let store = database.open().await;
        let block = made(&store, "human", "0").await;
        let kept = usize::try_from(HISTORY_MAX).unwrap();
        for number in 1..kept + 10 {
            let value = number.to_string();
            store.update_block(&block.id, set(&value), "tool").await.unwrap();
        }
        let history = store.block_history(&block.id, Some(1000)).await.unwrap();
        let values: Vec<_> = history.iter().map(|change| change.value.clone()).collect();
        let expected: Vec<_> = (10..kept + 10).rev().map(|number| number.to_string()).collect();
        assert_eq!(values, expected);
        let versions: Vec<_> = history.iter().map(|change| change.version).collect();
        assert!(versions.is_sorted_by(|a, b| a > b));
    }

    async fn an_agent_has_each_label_once_whatever_is_attached_or_renamed(database) {
        let store = database.open().await;
        let agent = made_agent(&store, "a").await.id;
        let human = made(&store, "human", "1").await;
        let other = made(&store, "human", "2").await;
        let notes = made(&store, "notes", "").await;
        assert!(store.attach_block(&agent, &notes.id).await.unwrap());
        assert!(store.attach_block(&agent, &human.id).await.unwrap());
        assert!(!store.attach_block(&agent, &human.id).await.unwrap());
        assert_eq!(labels(&store, &agent).await, ["notes", "human"]);
        let taken = "there is already a block of this agent named human";
        let rename = store.update_block(&notes.id, named("human"), "user").await;
        for error in [
            store.attach_block(&agent, &other.id).await.unwrap_err(),
            store.create_block_for(&agent, &block("human", "")).await.unwrap_err(),
            rename.unwrap_err(),
        ] {
            assert_eq!(error.to_string(), taken);
        }
        assert_eq!(store.block(&notes.id).await.unwrap(), Some(notes.clone()));
        assert_eq!(raw::number(&database, "SELECT COUNT(*) FROM blocks").await, 3);

        store.update_block(&human.id, named("person"), "user").await.unwrap();
        assert!(store.block_of_agent(&agent, "human").await.unwrap().is_none());
        let found = store.block_of_agent(&agent, "person").await.unwrap();
        assert_eq!(found.map(|block| block.id), Some(human.id));
        assert!(store.attach_block(&agent, &other.id).await.unwrap());
        store.create_block_for(&agent, &block("last", "")).await.unwrap();
        assert_eq!(labels(&store, &agent).await, ["notes", "person", "human", "last"]);
        assert!(store.detach_block(&agent, &other.id).await.unwrap());
        assert!(!store.detach_block(&agent, &other.id).await.unwrap());
        assert!(store.delete_block(&notes.id).await.unwrap());
        assert_eq!(labels(&store, &agent).await, ["person", "last"]);
        assert_eq!(store.block(&other.id).await.unwrap(), Some(other.clone()));

        let nobody = AgentId::random();
        for (result, missing) in [
            (store.attach_block(&nobody, &other.id).await.map(drop), "agent"),
            (store.detach_block(&nobody, &other.id).await.map(drop), "agent"),
            (store.create_block_for(&nobody, &block("a", "")).await, "agent"),
            (store.attach_block(&agent, &notes.id).await.map(drop), "block"),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(&error, StoreError::NotFound { what, .. } if *what == missing),
                "{error:?}");
        }
    }

    async fn what_many_attach_and_rename_at_once_leaves_each_label_once(database) {
        let store = database.open().await;
        let agent = made_agent(&store, "a").await.id;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..16 {
            let store = store.clone();
            tasks.spawn(async move {
                let own = made(&store, &format!("own {number}"), "").await;
                store.attach_block(&agent, &own.id).await.unwrap();
                let renamed = store.update_block(&own.id, named("human"), "user").await;
                let same = made(&store, "human", "").await;
                let attached = store.attach_block(&agent, &same.id).await;
                let is_taken = |error| matches!(error, StoreError::NameTaken { .. });
                assert!(renamed.map(drop).err().is_none_or(is_taken));
                assert!(attached.map(drop).err().is_none_or(is_taken));
            });
        }
        tasks.join_all().await;
        let mut labels = labels(&store, &agent).await;
        assert_eq!(labels.iter().filter(|label| *label == "human").count(), 1);
        let count = labels.len();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), count);
        let mismatch = "SELECT COUNT(*) FROM agent_blocks JOIN blocks ON blocks.id = block_id
            WHERE blocks.label <> agent_blocks.label";
        assert_eq!(raw::number(&database, mismatch).await, 0);
    }

    async fn a_tool_writes_the_version_that_it_read_or_is_told_the_one_that_is_there(database) {
        let store = database.open().await;
        let agent = made_agent(&store, "a").await.id;
        let human = block("human", "one");
        store.create_block_for(&agent, &human).await.unwrap();
        let locked = Block { read_only: true, ..block("persona", "I") };
        store.create_block_for(&agent, &locked).await.unwrap();
        let write = async |label, value, expected| {
            store.set_block_value(&agent, label, value, expected, "tool").await
        };
        let second = write("human", "two", Some(1)).await.unwrap();
        assert_eq!((second.id, second.version, second.value.as_str()), (human.id, 2, "two"));
        let error = write("human", "three", Some(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { current: 2 }), "{error:?}");
        assert_eq!(write("human", "three", None).await.unwrap().version, 3);
        let history = store.block_history(&human.id, None).await.unwrap();
        assert_eq!((history.len(), history[0].actor.as_str()), (3, "tool"));
        let error = write("persona", "You", None).await.unwrap_err();
        assert_eq!(error.to_string(), "the block persona is read-only");
        let error = write("nothing", "", None).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "block", .. }), "{error:?}");
        assert_eq!(store.block(&locked.id).await.unwrap(), Some(locked));
    }

    async fn exactly_one_of_many_tools_writes_a_version(database) {
        let store = database.open().await;
        let agents = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let shared = made(&store, "human", "").await;
        for agent in &agents {
            store.attach_block(agent, &shared.id).await.unwrap();
        }
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let (store, agent) = (store.clone(), agents[number % 2]);
            tasks.spawn(async move {
                loop {
                    let read = store.block_of_agent(&agent, "human").await.unwrap().unwrap();
                    let value = read.value.clone() + "x";
                    let version = Some(read.version);
                    match store.set_block_value(&agent, "human", &value, version, "tool").await {
                        Ok(_) => break,
                        Err(StoreError::Conflict { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            });
        }
        tasks.join_all().await;
        let block = store.block(&shared.id).await.unwrap().unwrap();
        assert_eq!((block.value, block.version), ("x".repeat(24), 25));
    }

    async fn the_agents_of_a_block_are_listed_in_pages(database) {
        let store = database.open().await;
        let shared = made(&store, "human", "").await;
        let mut agents = Vec::new();
        for number in 0..5 {
            let mut new = NewAgent { block_ids: vec![shared.id],
                ..NewAgent::new(agent(&number.to_string())) };
            new.agent.hidden = Some(number == 2);
            store.create_agent(&new).await.unwrap();
            agents.push(new.agent);
        }
        made_agent(&store, "other").await;
        let paging = Paging { ascending: true, limit: Some(3), ..Default::default() };
        assert_eq!(store.agents_of_block(&shared.id, None, &paging).await.unwrap(), agents[..3]);
        let after = Some(agents[2].id.to_string());
        let next = Paging { after, ..paging.clone() };
        assert_eq!(store.agents_of_block(&shared.id, None, &next).await.unwrap(), agents[3..]);
        let ids: Vec<_> = agents.iter().map(|agent| agent.id).collect();
        assert_eq!(store.agent_ids_of_block(&shared.id).await.unwrap(), ids);
        let error = store.agents_of_block(&BlockId::random(), None, &paging).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "block", .. }), "{error:?}");
    }

    async fn blocks_are_found_by_every_filter(database) {
        let store = database.open().await;
        let text = |text: &str| Some(text.to_owned());
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let agents = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let owner = identity::made(&store, "owner").await;
        let one = Block {
            description: text("Ünlike 100%"),
            tags: vec!["a".to_owned(), "b".to_owned()],
            template_name: text("pattern"),
            is_template: true,
            project_id: text("project"),
            ..block("one", "Große Worte")
        };
        let two = Block {
            tags: vec!["b".to_owned()],
            hidden: Some(false),
            ..block("Two", "small_words")
        };
        let three = Block { hidden: Some(true), ..block("three", "") };
        for block in [&one, &two, &three] {
            store.create_block(block).await.unwrap();
        }
        for agent in &agents {
            store.attach_block(agent, &one.id).await.unwrap();
        }
        store.attach_block(&agents[1], &two.id).await.unwrap();
        store.attach_identity_to_block(&owner.id, &two.id).await.unwrap();
        let base = BlockFilter {
            paging: Paging { ascending: true, ..Default::default() }, ..Default::default()
        };
        let cases = [
            (base.clone(), vec!["one", "Two"]),
            (BlockFilter::default(), vec!["Two", "one"]),
            (BlockFilter { show_hidden: true, ..base.clone() }, vec!["one", "Two", "three"]),
            (BlockFilter { label: text("Two"), ..base.clone() }, vec!["Two"]),
            (BlockFilter { label: text("two"), ..base.clone() }, vec![]),
            (BlockFilter { label_search: text("W"), ..base.clone() }, vec!["Two"]),
            (BlockFilter { description_search: text("ün"), ..base.clone() }, vec!["one"]),
            (BlockFilter { description_search: text("%"), ..base.clone() }, vec!["one"]),
            (BlockFilter { value_search: text("WORDS"), ..base.clone() }, vec!["Two"]),
            (BlockFilter { value_search: text("gROß"), ..base.clone() }, vec!["one"]),
            (BlockFilter { value_search: text("_"), ..base.clone() }, vec!["Two"]),
            (BlockFilter { name: text("pattern"), ..base.clone() }, vec!["one"]),
            (BlockFilter { templates_only: true, ..base.clone() }, vec!["one"]),
            (BlockFilter { project_id: text("project"), ..base.clone() }, vec!["one"]),
            (BlockFilter { tags: texts(&["a", "b"]), ..base.clone() }, vec!["one", "Two"]),
            (BlockFilter { tags: texts(&["a", "b"]), match_all_tags: true, ..base.clone() },
                vec!["one"]),
            (BlockFilter { identity_id: Some(owner.id), ..base.clone() }, vec!["Two"]),
            (BlockFilter { identifier_keys: texts(&["owner"]), ..base.clone() }, vec!["Two"]),
            (BlockFilter { agent_id: Some(agents[0]), ..base.clone() }, vec!["one"]),
            (BlockFilter { connected_to_agents_count_gt: Some(1), ..base.clone() }, vec!["one"]),
            (BlockFilter { connected_to_agents_count_lt: Some(2), ..base.clone() }, vec!["Two"]),
            (BlockFilter { connected_to_agents_count_eq: Some(vec![0, 1]), show_hidden: true,
                ..base.clone() }, vec!["Two", "three"]),
        ];
        for (filter, expected) in cases {
            let found = store.blocks(&filter).await.unwrap();
            assert_eq!(store.count_blocks(&filter).await.unwrap(), found.len() as u64);
            let labels: Vec<_> = found.into_iter().map(|block| block.label).collect();
            assert_eq!(labels, expected, "{filter:?}");
        }
        let paging = Paging { before: Some(two.id.to_string()), ..base.paging.clone() };
        let before = store.blocks(&BlockFilter { paging, ..base.clone() }).await.unwrap();
        assert_eq!(before, [one]);
        let paging = Paging { after: text("block-0"), ..base.paging.clone() };
        let error = store.blocks(&BlockFilter { paging, ..base }).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "block", .. }), "{error:?}");
    }
}
