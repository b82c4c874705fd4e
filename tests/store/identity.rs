use bulkhead_domain::{
    Identity, IdentityProperty, IdentityPropertyType, IdentityType, Timestamp,
    id::{AgentId, BlockId, IdentityId},
};
use bulkhead_store::{IdentityFilter, IdentityRelations, Paging, Store, StoreError};
use serde_json::{Value, json};

use super::{agent::made as made_agent, block};

pub(crate) fn identity(key: &str) -> Identity {
    let now = Timestamp::now();
    Identity {
        id: IdentityId::random(),
        identifier_key: key.to_owned(),
        name: format!("The {key}"),
        identity_type: IdentityType::User,
        project_id: None,
        properties: Vec::new(),
        agent_ids: Vec::new(),
        block_ids: Vec::new(),
        created_by_id: None,
        created_at: now,
        updated_at: now,
    }
}

/// Stores an identity.
pub(crate) async fn made(store: &Store, key: &str) -> Identity {
    let identity = identity(key);
    store.create_identity(&identity).await.unwrap();
    identity
}

fn property(key: &str, value: Value, kind: IdentityPropertyType) -> IdentityProperty {
    let key = key.to_owned();
    IdentityProperty { key, value, kind }
}

fn named(name: &str) -> impl FnOnce(&mut Identity) -> Result<(), StoreError> + Send {
    move |identity| {
        name.clone_into(&mut identity.name);
        Ok(())
    }
}

on_both! {
    async fn an_identity_reads_back_with_what_belongs_to_it(database) {
        let store = database.open().await;
        let agents = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let notes = block::made(&store, "notes", "").await.id;
        let full = Identity {
            identity_type: IdentityType::Org,
            project_id: Some("project".to_owned()),
            properties: vec![
                property("text", json!("🦀"), IdentityPropertyType::String),
                property("json", json!({ "nul": "\0" }), IdentityPropertyType::Json),
            ],
            agent_ids: vec![agents[1], agents[0]],
            block_ids: vec![notes],
            ..identity("full")
        };
        store.create_identity(&full).await.unwrap();
        assert_eq!(store.identity(&full.id).await.unwrap(), Some(full.clone()));
        assert_eq!(store.identity(&IdentityId::random()).await.unwrap(), None);
        assert!(store.delete_identity(&full.id).await.unwrap());
        assert!(!store.delete_identity(&full.id).await.unwrap());
        assert_eq!(store.identity(&full.id).await.unwrap(), None);
        assert!(store.agent(&agents[0]).await.unwrap().is_some());
        assert!(store.block(&notes).await.unwrap().is_some());
        let (nobody, nothing) = (AgentId::random(), BlockId::random());
        for (new, expected) in [
            (Identity { agent_ids: vec![agents[0], nobody], ..identity("a") },
                format!("there is no agent {nobody}")),
            (Identity { block_ids: vec![nothing], ..identity("a") },
                format!("there is no block {nothing}")),
            (identity(""), "the identity's identifier key is empty".to_owned()),
        ] {
            assert_eq!(store.create_identity(&new).await.unwrap_err().to_string(), expected);
            assert_eq!(store.identity(&new.id).await.unwrap(), None);
        }
    }

    async fn an_identifier_key_is_unique_in_its_project(database) {
        let store = database.open().await;
        let first = made(&store, "key").await;
        let error = store.create_identity(&identity("key")).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a identity named key");
        let project = Identity { project_id: Some("project".to_owned()), ..identity("key") };
        store.create_identity(&project).await.unwrap();
        let other = made(&store, "other").await;
        let rekey = |identity: &mut Identity| {
            "key".clone_into(&mut identity.identifier_key);
            Ok::<_, StoreError>(())
        };
        let none = IdentityRelations::default();
        let error = store.update_identity(&other.id, rekey, &none).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "identity", .. }), "{error:?}");
        assert_eq!(store.identity(&other.id).await.unwrap(), Some(other));

        let agent = made_agent(&store, "a").await.id;
        store.attach_identity_to_agent(&first.id, &agent).await.unwrap();
        let new = Identity { name: "New".to_owned(), ..identity("key") };
        let stored = store.upsert_identity(&new, &none).await.unwrap();
        assert!(!stored.is_new);
        let expected = Identity {
            id: first.id,
            created_at: first.created_at,
            updated_at: stored.record.updated_at,
            agent_ids: vec![agent],
            ..new
        };
        assert_eq!(stored.record, expected);
        assert_eq!(store.identity(&first.id).await.unwrap(), Some(expected));
        let fresh = store.upsert_identity(&identity("fresh"), &none).await.unwrap();
        assert!(fresh.is_new);
        assert_eq!(store.count_identities(&IdentityFilter::default()).await.unwrap(), 4);
    }

    async fn many_upserts_at_once_make_one_identity(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let store = store.clone();
            tasks.spawn(async move {
                let none = IdentityRelations::default();
                store.upsert_identity(&identity("key"), &none).await.unwrap()
            });
        }
        let stored = tasks.join_all().await;
        assert_eq!(stored.iter().filter(|stored| stored.is_new).count(), 1);
        assert!(stored.iter().all(|other| other.record.id == stored[0].record.id));
    }

    async fn an_update_changes_what_it_says_and_properties_are_merged_by_key(database) {
        let store = database.open().await;
        let agents = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let first = Identity { agent_ids: vec![agents[0]], ..identity("key") };
        store.create_identity(&first).await.unwrap();
        let relations = IdentityRelations { agent_ids: Some(vec![agents[1]]), block_ids: None };
        let second = store.update_identity(&first.id, named("New"), &relations).await.unwrap();
        let expected = Identity {
            name: "New".to_owned(),
            agent_ids: vec![agents[1]],
            updated_at: second.updated_at,
            ..first.clone()
        };
        assert_eq!(second, expected);
        let number = |value| property("n", json!(value), IdentityPropertyType::Number);
        let yes = property("yes", json!(true), IdentityPropertyType::Boolean);
        store.upsert_identity_properties(&first.id, &[number(1)]).await.unwrap();
        let merged = store.upsert_identity_properties(&first.id, &[yes.clone(), number(2)]).await;
        assert_eq!(merged.unwrap().properties, [number(2), yes]);
        let nobody = IdentityId::random();
        let none = IdentityRelations::default();
        let error = store.update_identity(&nobody, named(""), &none).await.unwrap_err();
        assert_eq!(error.to_string(), format!("there is no identity {nobody}"));
    }

    async fn agents_and_blocks_are_attached_detached_and_listed(database) {
        let store = database.open().await;
        let owner = made(&store, "owner").await.id;
        let first = made_agent(&store, "a").await;
        let second = made_agent(&store, "b").await;
        let notes = block::made(&store, "notes", "").await;
        assert!(store.attach_identity_to_agent(&owner, &second.id).await.unwrap());
        assert!(store.attach_identity_to_agent(&owner, &first.id).await.unwrap());
        assert!(!store.attach_identity_to_agent(&owner, &first.id).await.unwrap());
        assert!(store.attach_identity_to_block(&owner, &notes.id).await.unwrap());
        assert!(!store.attach_identity_to_block(&owner, &notes.id).await.unwrap());
        let stored = store.identity(&owner).await.unwrap().unwrap();
        assert_eq!((stored.agent_ids, stored.block_ids), (vec![second.id, first.id],
            vec![notes.id]));
        let paging = Paging { ascending: true, ..Default::default() };
        let agents = store.agents_of_identity(&owner, &paging).await.unwrap();
        assert_eq!(agents, [first.clone(), second]);
        let blocks = store.blocks_of_identity(&owner, &paging).await.unwrap();
        assert_eq!(blocks, std::slice::from_ref(&notes));
        assert!(store.detach_identity_from_agent(&owner, &first.id).await.unwrap());
        assert!(!store.detach_identity_from_agent(&owner, &first.id).await.unwrap());
        assert!(store.detach_identity_from_block(&owner, &notes.id).await.unwrap());
        assert!(store.blocks_of_identity(&owner, &paging).await.unwrap().is_empty());
        let nobody = IdentityId::random();
        for (error, expected) in [
            (store.attach_identity_to_agent(&nobody, &first.id).await.map(drop), "identity"),
            (store.attach_identity_to_agent(&owner, &AgentId::random()).await.map(drop), "agent"),
            (store.attach_identity_to_block(&owner, &BlockId::random()).await.map(drop), "block"),
            (store.detach_identity_from_block(&nobody, &notes.id).await.map(drop), "identity"),
            (store.agents_of_identity(&nobody, &paging).await.map(drop), "identity"),
            (store.blocks_of_identity(&nobody, &paging).await.map(drop), "identity"),
        ] {
            let error = error.unwrap_err();
            assert!(matches!(&error, StoreError::NotFound { what, .. } if *what == expected),
                "{error:?}");
        }
    }

    async fn identities_are_found_by_every_filter_and_in_pages(database) {
        let store = database.open().await;
        let one = made(&store, "one").await;
        let two = Identity {
            identity_type: IdentityType::Other,
            project_id: Some("project".to_owned()),
            ..identity("two")
        };
        store.create_identity(&two).await.unwrap();
        let text = |text: &str| Some(text.to_owned());
        let base = IdentityFilter {
            paging: Paging { ascending: true, ..Default::default() }, ..Default::default()
        };
        let cursor = |after, before| IdentityFilter {
            paging: Paging { after, before, ascending: true, limit: Some(1) }, ..Default::default()
        };
        for (filter, expected) in [
            (base.clone(), vec![&one, &two]),
            (IdentityFilter::default(), vec![&two, &one]),
            (IdentityFilter { name: text("The one"), ..base.clone() }, vec![&one]),
            (IdentityFilter { identifier_key: text("two"), ..base.clone() }, vec![&two]),
            (IdentityFilter { project_id: text("project"), ..base.clone() }, vec![&two]),
            (IdentityFilter { identity_type: Some(IdentityType::User), ..base.clone() }, vec![&one]),
            (cursor(None, None), vec![&one]),
            (cursor(Some(one.id.to_string()), None), vec![&two]),
            (cursor(None, Some(two.id.to_string())), vec![&one]),
        ] {
            let found = store.identities(&filter).await.unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
        let error = store.identities(&cursor(text("identity-0"), None)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "identity", .. }), "{error:?}");
    }
}
