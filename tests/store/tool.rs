use bulkhead_domain::Digest;
use bulkhead_store::{
    NewPackageSet, NewTool, StoreError, ToolFilter, ToolRecord, ToolType, tool::limits,
};
use serde_json::{Value, json};

/// A tool that a client saves.
pub(crate) fn custom(name: &str) -> NewTool {
    NewTool::new(name, ToolType::Custom)
}

/// One with everything that a tool can have.
fn full(name: &str, packages: Digest) -> NewTool {
    NewTool {
        source_type: Some("python".to_owned()),
        description: Some("Says ä 🦀.".to_owned()),
        source_code: Some("def f(): # 🦀\n    return '\\0'".to_owned()),
        json_schema: Some(json!({ "name": name, "nul": "\0", "emoji": "🦀", "deep": [[{}]] })),
        args_json_schema: Some(json!({ "properties": {} })),
        tags: vec!["b".to_owned(), "a\0".to_owned(), "🦀".to_owned()],
        return_char_limit: 7,
        pip_requirements: Some(json!([{ "name": "idna", "version": null }])),
        npm_requirements: Some(json!([])),
        default_requires_approval: Some(true),
        enable_parallel_execution: Some(false),
        metadata: Some(json!({ "tool_hash": "0123456789ab" })),
        packages: Some(packages),
        user_id: Some("user-1".to_owned()),
        project_id: Some("project-1".to_owned()),
        ..custom(name)
    }
}

fn package_set(name: &str) -> NewPackageSet {
    NewPackageSet {
        requirements: json!([name]),
        packages: json!([{ "name": name }]),
        size: 1,
    }
}

fn unchanged(_: &mut ToolRecord) -> Result<(), StoreError> {
    Ok(())
}

on_both! {
    async fn a_tool_that_is_taken_back_is_as_it_was_unless_somebody_changed_it_since(database) {
        let store = database.open().await;
        let saved = async |description: &str| {
            let mut new = NewTool::new("mine", ToolType::Custom);
            new.description = Some(description.to_owned());
            // Times are told apart by microseconds.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            store.upsert_tool(new).await.unwrap().record
        };
        let described = async || {
            let tool = store.tool_by_name("mine").await.unwrap();
            tool.and_then(|tool| tool.description)
        };
        let first = saved("first").await;
        let second = saved("second").await;
        let back = store.take_back_tool(&second, Some(first.clone())).await.unwrap();
        assert!(back);
        assert_eq!(store.tool(&first.id).await.unwrap().as_ref(), Some(&first));
        assert!(!store.take_back_tool(&second, Some(first.clone())).await.unwrap(), "it is gone");
        // Somebody else's words stay.
        let third = saved("third").await;
        saved("a person's").await;
        assert!(!store.take_back_tool(&third, Some(first.clone())).await.unwrap());
        assert!(!store.take_back_tool(&third, None).await.unwrap());
        assert_eq!(described().await.as_deref(), Some("a person's"));
        let last = saved("last").await;
        assert!(store.take_back_tool(&last, None).await.unwrap(), "it was new");
        assert_eq!(described().await, None);
        assert!(!store.take_back_tool(&last, None).await.unwrap());
    }

    async fn a_tool_reads_back_as_it_was_put_with_and_without_what_is_optional(database) {
        let store = database.open().await;
        let packages = store.put_package_set(package_set("idna")).await.unwrap().digest;
        let new = full("full", packages);
        let stored = store.upsert_tool(new.clone()).await.unwrap();
        assert!(stored.is_new);
        let stored = stored.record;
        assert!(stored.id.starts_with("tool-") && stored.id.len() == 41, "{}", stored.id);
        let expected = ToolRecord {
            id: stored.id.clone(),
            name: new.name,
            tool_type: new.tool_type,
            source_type: new.source_type,
            description: new.description,
            source_code: new.source_code,
            json_schema: new.json_schema,
            args_json_schema: new.args_json_schema,
            tags: new.tags,
            return_char_limit: 7,
            pip_requirements: new.pip_requirements,
            npm_requirements: new.npm_requirements,
            default_requires_approval: Some(true),
            enable_parallel_execution: Some(false),
            metadata: new.metadata,
            component: None,
            mcp: None,
            packages: Some(packages),
            created_by_id: new.user_id.clone(),
            last_updated_by_id: new.user_id,
            project_id: new.project_id,
            created_at: stored.created_at,
            updated_at: stored.created_at,
        };
        assert_eq!(stored, expected);
        let bare = store.upsert_tool(custom("bare")).await.unwrap().record;
        assert_eq!((&bare.json_schema, bare.default_requires_approval), (&None, None));
        for tool in [&stored, &bare] {
            assert_eq!(store.tool(&tool.id).await.unwrap().as_ref(), Some(tool));
            assert_eq!(store.tool_by_name(&tool.name).await.unwrap().as_ref(), Some(tool));
        }
        assert_eq!(store.tool("tool-0").await.unwrap(), None);
        assert_eq!(store.tool_by_name("Bare").await.unwrap(), None, "names have a case");
        let filter = ToolFilter { ascending: true, ..Default::default() };
        assert_eq!(store.tools(&filter).await.unwrap(), [stored, bare]);
    }

    async fn an_upsert_replaces_all_but_the_id_and_who_made_it_when(database) {
        let store = database.open().await;
        let packages = store.put_package_set(package_set("idna")).await.unwrap().digest;
        let first = store.upsert_tool(full("a", packages)).await.unwrap().record;
        let new = NewTool { user_id: Some("user-2".to_owned()), ..custom("a") };
        let second = store.upsert_tool(new).await.unwrap();
        assert!(!second.is_new);
        let second = second.record;
        let expected = ToolRecord {
            source_type: None,
            description: None,
            source_code: None,
            json_schema: None,
            args_json_schema: None,
            tags: vec![],
            return_char_limit: limits::RETURN_CHARS_DEFAULT,
            pip_requirements: None,
            npm_requirements: None,
            default_requires_approval: None,
            enable_parallel_execution: None,
            metadata: None,
            packages: None,
            last_updated_by_id: Some("user-2".to_owned()),
            project_id: None,
            updated_at: second.updated_at,
            ..first.clone()
        };
        assert_eq!(second, expected);
        assert!(second.updated_at >= first.updated_at);
        assert_eq!(store.tool(&first.id).await.unwrap(), Some(second));
        assert_eq!(store.count_tools(&ToolFilter::default()).await.unwrap(), 1);
    }

    async fn an_update_changes_what_it_says_and_nothing_that_must_stay(database) {
        let store = database.open().await;
        let packages = store.put_package_set(package_set("idna")).await.unwrap().digest;
        let first = store.upsert_tool(full("a", packages)).await.unwrap().record;
        let changed = store.update_tool(&first.id, |tool| {
            tool.name = "b".to_owned();
            tool.description = None;
            tool.last_updated_by_id = Some("user-2".to_owned());
            // None of these is for a change to decide.
            tool.id = "tool-other".to_owned();
            tool.created_by_id = None;
            tool.created_at = bulkhead_domain::Timestamp::from_micros(0);
            tool.component = Some(bulkhead_store::ComponentTool {
                component: "c".to_owned(),
                tool: "t".to_owned(),
            });
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.unwrap();
        let expected = ToolRecord {
            name: "b".to_owned(),
            description: None,
            last_updated_by_id: Some("user-2".to_owned()),
            updated_at: changed.updated_at,
            ..first.clone()
        };
        assert_eq!(changed, expected);
        assert!(changed.updated_at >= first.updated_at);
        assert_eq!(store.tool_by_name("b").await.unwrap(), Some(changed));
        assert_eq!(store.tool_by_name("a").await.unwrap(), None);
        let filter = ToolFilter { search: Some("B".to_owned()), ..Default::default() };
        assert_eq!(store.count_tools(&filter).await.unwrap(), 1, "found by its new name");
    }

    async fn a_failed_change_stores_nothing_and_gives_its_own_error(database) {
        #[derive(Debug, PartialEq)]
        enum Refusal { Mine, Store }
        impl From<StoreError> for Refusal {
            fn from(_: StoreError) -> Self {
                Self::Store
            }
        }
        let store = database.open().await;
        let tool = store.upsert_tool(custom("a")).await.unwrap().record;
        let failed = store.update_tool(&tool.id, |tool| {
            tool.name = "b".to_owned();
            Err(Refusal::Mine)
        });
        assert_eq!(failed.await, Err(Refusal::Mine));
        let missing = store.update_tool("tool-0", |_| Err(Refusal::Mine)).await;
        assert_eq!(missing, Err(Refusal::Store));
        assert_eq!(store.tool(&tool.id).await.unwrap(), Some(tool));
        // What failed left no lock behind.
        store.upsert_tool(custom("b")).await.unwrap();
    }

    async fn a_tool_is_not_renamed_to_a_name_that_another_has(database) {
        let store = database.open().await;
        let first = store.upsert_tool(custom("a")).await.unwrap().record;
        store.upsert_tool(custom("b")).await.unwrap();
        let rename = |name: &'static str| move |tool: &mut ToolRecord| {
            tool.name = name.to_owned();
            Ok::<_, StoreError>(())
        };
        let error = store.update_tool(&first.id, rename("b")).await.unwrap_err();
        assert!(matches!(&error, StoreError::NameTaken { what: "tool", name } if name == "b"));
        assert_eq!(error.to_string(), "there is already a tool named b");
        assert_eq!(store.tool(&first.id).await.unwrap().as_ref(), Some(&first));
        // Its own name is not taken, nor is one that differs in case.
        store.update_tool(&first.id, rename("a")).await.unwrap();
        store.update_tool(&first.id, rename("B")).await.unwrap();
    }

    async fn a_tool_that_is_not_there_is_neither_changed_nor_deleted(database) {
        let store = database.open().await;
        let error = store.update_tool("tool-0", unchanged).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no tool tool-0");
        let tool = store.upsert_tool(custom("a")).await.unwrap().record;
        assert!(store.delete_tool(&tool.id).await.unwrap());
        assert!(!store.delete_tool(&tool.id).await.unwrap());
        assert_eq!(store.tool_by_name("a").await.unwrap(), None);
        let again = store.upsert_tool(custom("a")).await.unwrap();
        assert!(again.is_new && again.record.id != tool.id);
    }

    async fn a_name_that_many_save_at_once_is_one_tool(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let store = store.clone();
            let new = NewTool { description: Some(number.to_string()), ..custom("a") };
            tasks.spawn(async move { store.upsert_tool(new).await.unwrap() });
        }
        let upserted = tasks.join_all().await;
        assert_eq!(upserted.iter().filter(|upserted| upserted.is_new).count(), 1);
        let stored = store.tools(&ToolFilter::default()).await.unwrap();
        assert_eq!(stored.len(), 1);
        assert!(upserted.iter().all(|upserted| upserted.record.id == stored[0].id));
    }

    async fn changes_at_the_same_time_lose_nothing(database) {
        let store = database.open().await;
        let id = store.upsert_tool(custom("a")).await.unwrap().record.id;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let (store, id) = (store.clone(), id.clone());
            tasks.spawn(async move {
                let change = |tool: &mut ToolRecord| {
                    tool.tags.push(number.to_string());
                    Ok::<_, StoreError>(())
                };
                store.update_tool(&id, change).await.unwrap();
            });
        }
        tasks.join_all().await;
        let mut tags = store.tool(&id).await.unwrap().unwrap().tags;
        tags.sort_by_key(|tag| tag.parse::<u32>().unwrap());
        assert_eq!(tags, (0..24).map(|number| number.to_string()).collect::<Vec<_>>());
    }

    async fn of_many_that_rename_to_one_name_one_succeeds(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..8 {
            let id = store.upsert_tool(custom(&number.to_string())).await.unwrap().record.id;
            let store = store.clone();
            tasks.spawn(async move {
                let rename = |tool: &mut ToolRecord| {
                    tool.name = "one".to_owned();
                    Ok::<_, StoreError>(())
                };
                match store.update_tool(&id, rename).await {
                    Ok(_) => true,
                    Err(StoreError::NameTaken { .. }) => false,
                    Err(error) => panic!("{error:?}"),
                }
            });
        }
        let renamed = tasks.join_all().await;
        assert_eq!(renamed.iter().filter(|renamed| **renamed).count(), 1);
    }

    async fn tools_are_there_after_a_restart(database) {
        let store = database.open().await;
        let packages = store.put_package_set(package_set("idna")).await.unwrap().digest;
        let tool = store.upsert_tool(full("a", packages)).await.unwrap().record;
        store.close().await;
        let store = database.open().await;
        assert_eq!(store.tool_by_name("a").await.unwrap(), Some(tool.clone()));
        let again = store.upsert_tool(custom("a")).await.unwrap();
        assert_eq!((again.is_new, again.record.id), (false, tool.id));
    }

    async fn what_is_over_a_limit_is_refused_by_name_and_changes_nothing(database) {
        let store = database.open().await;
        let large = || Some(Value::from("x".repeat(limits::DOCUMENT_MAX)));
        let deep = (0..200).fold(json!({}), |value, _| json!([value]));
        let tags = |count, length| (0..count).map(|_| "t".repeat(length)).collect();
        let cases = [
            (NewTool { source_code: Some("x".repeat(limits::SOURCE_MAX + 1)), ..custom("a") },
                "the tool's source code is larger than 5 MB"),
            (NewTool { description: Some("x".repeat(limits::DESCRIPTION_MAX + 1)), ..custom("a") },
                "the tool's description is larger than 256 KiB"),
            (NewTool { json_schema: large(), ..custom("a") },
                "the tool's JSON schema is larger than 1 MiB"),
            (NewTool { json_schema: Some(deep), ..custom("a") },
                "the tool's JSON schema nests deeper than 100 levels"),
            (NewTool { args_json_schema: large(), ..custom("a") },
                "the schema of the tool's arguments is larger than 1 MiB"),
            (NewTool { pip_requirements: large(), ..custom("a") },
                "the list of the tool's pip requirements is larger than 1 MiB"),
            (NewTool { npm_requirements: large(), ..custom("a") },
                "the list of the tool's npm requirements is larger than 1 MiB"),
            (NewTool { metadata: large(), ..custom("a") },
                "the tool's metadata is larger than 1 MiB"),
            (NewTool { tags: tags(limits::TAGS_MAX + 1, 1), ..custom("a") },
                "the tool's tags are more than 256"),
            (NewTool { tags: tags(1, 513), ..custom("a") },
                "the tool's tags have one that is longer than 512 bytes"),
            (NewTool { return_char_limit: 0, ..custom("a") },
                "the tool's return_char_limit is not between 1 and 1000000"),
            (NewTool { return_char_limit: limits::RETURN_CHARS_MAX + 1, ..custom("a") },
                "the tool's return_char_limit is not between 1 and 1000000"),
            (NewTool { source_code: Some("a\0b".to_owned()), ..custom("a") },
                "the tool's source code contains a NUL character"),
            (NewTool { description: Some("\0".to_owned()), ..custom("a") },
                "the tool's description contains a NUL character"),
            (custom("a\0"), "the tool's name contains a NUL character"),
            (custom(""), "the tool's name is empty"),
        ];
        for (new, expected) in cases {
            let error = store.upsert_tool(new).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
            assert_eq!(error.to_string(), expected);
        }
        let error = store.upsert_tool(custom(&"x".repeat(limits::NAME_MAX + 1))).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { limit: 1040, .. }), "{error:?}");
        let unknown = NewTool { packages: Some(Digest::of(b"x")), ..custom("a") };
        let error = store.upsert_tool(unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "package set", .. }), "{error:?}");
        assert_eq!(store.count_tools(&ToolFilter::default()).await.unwrap(), 0);

        let largest = NewTool {
            source_code: Some("x".repeat(limits::SOURCE_MAX)),
            tags: tags(limits::TAGS_MAX, 512),
            return_char_limit: limits::RETURN_CHARS_MAX,
            ..custom(&"ä".repeat(limits::NAME_MAX / 2))
        };
        let stored = store.upsert_tool(largest).await.unwrap().record;
        let longer = |tool: &mut ToolRecord| {
            tool.source_code.as_mut().unwrap().push('x');
            Ok::<_, StoreError>(())
        };
        let error = store.update_tool(&stored.id, longer).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        assert_eq!(store.tool(&stored.id).await.unwrap(), Some(stored));
    }

    async fn unusable_ids_and_names_are_refused_alike_by_both_databases(database) {
        let store = database.open().await;
        for (text, reason) in [("", "is empty"), ("a\0", "contains a NUL character")] {
            let errors = [
                store.tool(text).await.map(drop).unwrap_err(),
                store.update_tool(text, unchanged).await.map(drop).unwrap_err(),
                store.delete_tool(text).await.map(drop).unwrap_err(),
                store.tool_by_name(text).await.map(drop).unwrap_err(),
                store.upsert_tool(custom(text)).await.map(drop).unwrap_err(),
                store.put_component_tools(text, vec![]).await.map(drop).unwrap_err(),
                store.delete_component_tools(text).await.map(drop).unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
                assert!(error.to_string().ends_with(reason), "{error}");
            }
        }
    }
}
