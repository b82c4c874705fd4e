use bulkhead_domain::{
    Timestamp,
    platform::{AgentType, AgentTypeId},
};
use bulkhead_store::{AgentTypeFilter, NumberedPage, Store, StoreError, agent_type::limits};
use serde_json::json;

fn agent_type(slug: &str) -> AgentType {
    let now = Timestamp::now();
    AgentType {
        id: AgentTypeId::random(),
        name: format!("The {slug}"),
        slug: slug.to_owned(),
        description: None,
        expertise: Vec::new(),
        personality_prompt: "You are it.".to_owned(),
        primary_model: "bulkhead/scripted".to_owned(),
        fallback_models: Vec::new(),
        model_params: serde_json::Map::new(),
        mcp_servers: Vec::new(),
        is_active: true,
        created_at: now,
        updated_at: now,
    }
}

/// Stores an active type.
pub(crate) async fn made(store: &Store, slug: &str) -> AgentType {
    let agent_type = agent_type(slug);
    store.create_agent_type(&agent_type).await.unwrap();
    agent_type
}

pub(crate) fn inactive(agent_type: &mut AgentType) -> Result<(), StoreError> {
    agent_type.is_active = false;
    Ok(())
}

on_both! {
    async fn an_agent_type_reads_back_by_its_id_and_its_slug(database) {
        let store = database.open().await;
        let full = AgentType {
            description: Some("It owns. 🦀 \0".to_owned()),
            expertise: vec!["requirements".to_owned()],
            fallback_models: vec!["bulkhead/other".to_owned()],
            model_params: json!({"temperature": 0.7}).as_object().unwrap().clone(),
            mcp_servers: vec!["knowledge-base".to_owned()],
            ..agent_type("product-owner")
        };
        store.create_agent_type(&full).await.unwrap();
        assert_eq!(store.agent_type(full.id).await.unwrap().as_ref(), Some(&full));
        assert_eq!(store.agent_type(AgentTypeId::random()).await.unwrap(), None);
        let found = store.agent_type_by_slug("product-owner").await.unwrap();
        assert_eq!(found.as_ref(), Some(&full));
        for nothing in ["product", "", "\0", &"a".repeat(9000)] {
            assert_eq!(store.agent_type_by_slug(nothing).await.unwrap(), None);
        }
        let words = |count| vec!["word".to_owned(); count];
        for bad in [
            AgentType { name: String::new(), ..agent_type("a") },
            agent_type("A"),
            AgentType { primary_model: "\0".to_owned(), ..agent_type("a") },
            AgentType { expertise: words(limits::EXPERTISE_MAX + 1), ..agent_type("a") },
            AgentType { fallback_models: words(limits::FALLBACK_MODELS_MAX + 1), ..agent_type("a") },
            AgentType { mcp_servers: vec![String::new()], ..agent_type("a") },
            AgentType {
                personality_prompt: "x".repeat(limits::AGENT_TYPE_BYTES_MAX), ..agent_type("a")
            },
        ] {
            let error = store.create_agent_type(&bad).await.unwrap_err();
            let expected = matches!(error, StoreError::Invalid { .. } | StoreError::Quota { .. });
            assert!(expected, "{error:?}");
            assert_eq!(store.agent_type(bad.id).await.unwrap(), None);
        }
    }

    async fn the_slug_of_an_agent_type_is_unique(database) {
        let store = database.open().await;
        let first = made(&store, "first").await;
        let second = made(&store, "second").await;
        let error = store.create_agent_type(&agent_type("first")).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a agent type named first");
        let rename = |agent_type: &mut AgentType| {
            "first".clone_into(&mut agent_type.slug);
            Ok::<_, StoreError>(())
        };
        let error = store.update_agent_type(second.id, rename).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "agent type", .. }), "{error:?}");
        assert_eq!(store.agent_type(second.id).await.unwrap(), Some(second));
        store.update_agent_type(first.id, rename).await.unwrap();
        let error = store.update_agent_type(AgentTypeId::random(), rename).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "agent type", .. }), "{error:?}");
    }

    async fn changes_of_an_agent_type_at_once_undo_nothing_of_each_other(database) {
        let store = database.open().await;
        let made = made(&store, "it").await;
        let writers = (0..8).map(|number| {
            let (store, id) = (store.clone(), made.id);
            tokio::spawn(async move {
                let add = |agent_type: &mut AgentType| {
                    agent_type.expertise.push(number.to_string());
                    Ok::<_, StoreError>(())
                };
                store.update_agent_type(id, add).await.unwrap();
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let mut found = store.agent_type(made.id).await.unwrap().unwrap();
        found.expertise.sort();
        assert_eq!(found.expertise, ["0", "1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(found.created_at, made.created_at);
        assert!(found.updated_at > made.updated_at);
    }

    async fn agent_types_are_listed_in_pages_and_found_by_every_filter(database) {
        let store = database.open().await;
        let mut types = Vec::new();
        for slug in ["one", "two", "one-more"] {
            types.push(made(&store, slug).await);
        }
        types[2] = store.update_agent_type(types[2].id, inactive).await.unwrap();
        let base = AgentTypeFilter::default();
        let second = NumberedPage { page: 2, page_size: 2 };
        for (filter, expected, total) in [
            (base.clone(), &types[..], 3),
            (AgentTypeFilter { is_active: Some(true), ..base.clone() }, &types[..2], 2),
            (AgentTypeFilter { is_active: Some(false), ..base.clone() }, &types[2..], 1),
            (AgentTypeFilter { search: Some("E ONE".to_owned()), ..base.clone() },
                &[types[0].clone(), types[2].clone()], 2),
            (AgentTypeFilter { search: Some("%".to_owned()), ..base.clone() }, &[], 0),
            (AgentTypeFilter { page: second, ..base }, &types[2..], 3),
        ] {
            let (found, count) = store.list_agent_types(&filter).await.unwrap();
            assert_eq!((found.as_slice(), count), (expected, total), "{filter:?}");
        }
    }
}
