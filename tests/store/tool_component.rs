use bulkhead_store::{
    ComponentTool, NewTool, StoreError, ToolFilter, ToolRecord, ToolType, tool::limits,
};
use serde_json::json;

use super::tool::custom;

fn tools(names: &[&str]) -> Vec<NewTool> {
    let tool = |name: &&str| NewTool {
        json_schema: Some(json!({ "name": name })),
        ..NewTool::new(*name, ToolType::LettaBuiltin)
    };
    names.iter().map(tool).collect()
}

fn names(tools: &[ToolRecord]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

on_both! {
    async fn the_tools_of_a_component_are_those_that_it_was_last_given(database) {
        let store = database.open().await;
        let first = store.put_component_tools("web", tools(&["fetch", "search"])).await.unwrap();
        assert_eq!(names(&first), ["fetch", "search"]);
        let origin = ComponentTool { component: "web".to_owned(), tool: "search".to_owned() };
        assert_eq!(first[1].component, Some(origin));
        let second = store.put_component_tools("web", tools(&["post", "fetch"])).await.unwrap();
        assert_eq!(names(&second), ["post", "fetch"]);
        assert_eq!(second[1], first[0], "what says nothing new is not written again");
        assert_eq!(store.tool(&first[1].id).await.unwrap(), None);
        for tool in &second {
            assert_eq!(store.tool(&tool.id).await.unwrap().as_ref(), Some(tool));
        }
        let mut changed = tools(&["post", "fetch"]);
        changed[1].description = Some("new".to_owned());
        changed[1].user_id = Some("user-1".to_owned());
        let third = store.put_component_tools("web", changed).await.unwrap();
        assert_eq!(third[0], second[0]);
        let expected = ToolRecord {
            description: Some("new".to_owned()),
            last_updated_by_id: Some("user-1".to_owned()),
            updated_at: third[1].updated_at,
            ..second[1].clone()
        };
        assert_eq!(third[1], expected);
    }

    async fn a_name_that_is_taken_is_given_with_the_component_before_it(database) {
        let store = database.open().await;
        let mine = store.upsert_tool(custom("fetch")).await.unwrap().record;
        let first = store.put_component_tools("web", tools(&["fetch"])).await.unwrap();
        assert_eq!(names(&first), ["web__fetch"]);
        assert_eq!(first[0].component.as_ref().unwrap().tool, "fetch");
        // Decided once: the plain name does not come back to a tool that agents know by another.
        assert!(store.delete_tool(&mine.id).await.unwrap());
        let again = store.put_component_tools("web", tools(&["fetch"])).await.unwrap();
        assert_eq!(again, first);
        let other = store.put_component_tools("net", tools(&["fetch"])).await.unwrap();
        assert_eq!(names(&other), ["fetch"]);
        let third = store.put_component_tools("web2", tools(&["fetch"])).await.unwrap();
        assert_eq!(names(&third), ["web2__fetch"]);
    }

    async fn two_components_whose_full_names_look_the_same_are_told_apart(database) {
        let store = database.open().await;
        for name in ["c", "b__c", "a__b__c"] {
            store.upsert_tool(custom(name)).await.unwrap();
        }
        let first = store.put_component_tools("a__b", tools(&["c"])).await.unwrap();
        let second = store.put_component_tools("a", tools(&["b__c"])).await.unwrap();
        assert_eq!((names(&first), names(&second)), (vec!["a__b__c__2"], vec!["a__b__c__3"]));
    }

    async fn a_name_that_a_component_leaves_is_free_for_its_next_tool(database) {
        let store = database.open().await;
        let old = store.put_component_tools("web", tools(&["web__b"])).await.unwrap();
        store.upsert_tool(custom("b")).await.unwrap();
        let new = store.put_component_tools("web", tools(&["b"])).await.unwrap();
        assert_eq!(names(&new), ["web__b"]);
        assert_ne!(new[0].id, old[0].id);
    }

    async fn a_name_that_a_person_chose_for_a_components_tool_stays(database) {
        let store = database.open().await;
        let first = store.put_component_tools("web", tools(&["fetch"])).await.unwrap().remove(0);
        let rename = |tool: &mut ToolRecord| {
            tool.name = "get".to_owned();
            Ok::<_, StoreError>(())
        };
        let renamed = store.update_tool(&first.id, rename).await.unwrap();
        assert_eq!(renamed.component, first.component);
        let again = store.put_component_tools("web", tools(&["fetch"])).await.unwrap();
        assert_eq!((again[0].id.as_str(), again[0].name.as_str()), (first.id.as_str(), "get"));
    }

    async fn a_client_that_saves_under_a_components_name_takes_its_row(database) {
        let store = database.open().await;
        let first = store.put_component_tools("web", tools(&["fetch"])).await.unwrap().remove(0);
        let mine = store.upsert_tool(custom("fetch")).await.unwrap();
        assert_eq!((mine.is_new, mine.record.id.as_str()), (false, first.id.as_str()));
        assert_eq!((mine.record.component, mine.record.tool_type), (None, ToolType::Custom));
        let again = store.put_component_tools("web", tools(&["fetch"])).await.unwrap();
        assert_eq!(names(&again), ["web__fetch"]);
        assert_ne!(again[0].id, first.id);
    }

    async fn deleting_a_components_tools_leaves_all_others(database) {
        let store = database.open().await;
        store.upsert_tool(custom("mine")).await.unwrap();
        store.put_component_tools("web", tools(&["a", "b"])).await.unwrap();
        store.put_component_tools("net", tools(&["c"])).await.unwrap();
        assert_eq!(store.delete_component_tools("web").await.unwrap(), 2);
        assert_eq!(store.delete_component_tools("web").await.unwrap(), 0);
        let filter = ToolFilter { ascending: true, ..Default::default() };
        let left = store.tools(&filter).await.unwrap();
        assert_eq!(names(&left), ["mine", "c"]);
        assert!(store.put_component_tools("net", vec![]).await.unwrap().is_empty());
        assert_eq!(store.count_tools(&ToolFilter::default()).await.unwrap(), 1);
    }

    async fn a_list_that_cannot_be_is_refused_and_the_former_one_stays(database) {
        let store = database.open().await;
        let stored = store.put_component_tools("web", tools(&["a"])).await.unwrap();
        let error = store.put_component_tools("web", tools(&["b", "b"])).await.unwrap_err();
        assert_eq!(error.to_string(), "the component's list of tools has the same name twice");
        let mut half = tools(&["b", "c"]);
        half[1].description = Some("\0".to_owned());
        let error = store.put_component_tools("web", half).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        let many = vec![custom("x"); limits::COMPONENT_TOOLS_MAX + 1];
        let error = store.put_component_tools("web", many).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { limit: 1000, .. }), "{error:?}");
        assert_eq!(store.tools(&ToolFilter::default()).await.unwrap(), stored);
        // The longest names of both fit together.
        let (component, tool) = ("c".repeat(512), "t".repeat(512));
        store.upsert_tool(custom(&tool)).await.unwrap();
        let long = store.put_component_tools(&component, tools(&[&tool])).await.unwrap();
        assert_eq!(store.tool_by_name(&long[0].name).await.unwrap().as_ref(), Some(&long[0]));
    }

    async fn pushes_of_one_and_of_several_components_at_once_agree(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let store = store.clone();
            let component = ["a", "b", "c"][number % 3];
            // In opposite orders, so that they would wait for each other's names.
            let listed = if number % 2 == 0 { ["x", "y", "z"] } else { ["z", "y", "x"] };
            tasks.spawn(async move {
                store.put_component_tools(component, tools(&listed)).await.unwrap();
                store.upsert_tool(custom(["m", "n"][number % 2])).await.unwrap();
            });
        }
        tasks.join_all().await;
        let stored = store.tools(&ToolFilter::default()).await.unwrap();
        assert_eq!(stored.len(), 11);
        for name in ["x", "y", "z"] {
            let named = |tool: &&ToolRecord| {
                tool.component.as_ref().is_some_and(|origin| origin.tool == name)
            };
            let of_name: Vec<_> = stored.iter().filter(named).collect();
            assert_eq!(of_name.len(), 3);
            assert_eq!(of_name.iter().filter(|tool| tool.name == name).count(), 1);
        }
    }
}
