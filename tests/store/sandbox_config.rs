use bulkhead_domain::Timestamp;
use bulkhead_store::{
    NewSandboxConfig, SandboxConfig, SandboxConfigFilter, SandboxType, StoreError, sandbox_config,
};
use serde_json::{Value, json};

/// A configuration that a client saves.
pub(crate) fn new(sandbox_type: SandboxType) -> NewSandboxConfig {
    NewSandboxConfig {
        sandbox_type,
        config: json!({ "pip_requirements": [], "nul": "\0", "emoji": "🦀" }),
        user_id: Some("user-1".to_owned()),
    }
}

on_both! {
    async fn a_sandbox_configuration_reads_back_and_is_the_only_one_of_its_type(database) {
        let store = database.open().await;
        assert_eq!(store.sandbox_config_by_type(SandboxType::Local).await.unwrap(), None);
        let stored = store.create_sandbox_config(new(SandboxType::Local)).await.unwrap();
        assert!(stored.id.starts_with("sandbox-") && stored.id.len() == 44, "{}", stored.id);
        let expected = SandboxConfig {
            id: stored.id.clone(),
            sandbox_type: SandboxType::Local,
            config: new(SandboxType::Local).config,
            created_by_id: Some("user-1".to_owned()),
            last_updated_by_id: Some("user-1".to_owned()),
            created_at: stored.created_at,
            updated_at: stored.created_at,
        };
        assert_eq!(stored, expected);
        assert_eq!(store.sandbox_config(&stored.id).await.unwrap(), Some(stored.clone()));
        let by_type = store.sandbox_config_by_type(SandboxType::Local).await.unwrap();
        assert_eq!(by_type, Some(stored.clone()));
        assert_eq!(store.sandbox_config("sandbox-0").await.unwrap(), None);
        let error = store.create_sandbox_config(new(SandboxType::Local)).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a sandbox configuration named local");
        assert!(matches!(error, StoreError::NameTaken { .. }));
        store.close().await;
        let store = database.open().await;
        assert_eq!(store.sandbox_config(&stored.id).await.unwrap(), Some(stored));
    }

    async fn an_upsert_keeps_the_id_and_who_made_it(database) {
        let store = database.open().await;
        let first = store.upsert_sandbox_config(new(SandboxType::Local)).await.unwrap();
        assert!(first.is_new);
        let second = NewSandboxConfig {
            config: json!({}),
            user_id: None,
            ..new(SandboxType::Local)
        };
        let second = store.upsert_sandbox_config(second).await.unwrap();
        assert!(!second.is_new);
        let expected = SandboxConfig {
            config: json!({}),
            last_updated_by_id: None,
            updated_at: second.record.updated_at,
            ..first.record
        };
        assert_eq!(second.record, expected);
        assert_eq!(store.sandbox_config(&expected.id).await.unwrap(), Some(expected));
    }

    async fn a_type_that_many_configure_at_once_has_one_configuration(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let store = store.clone();
            tasks.spawn(async move {
                if number % 2 == 0 {
                    match store.create_sandbox_config(new(SandboxType::Local)).await {
                        Ok(_) | Err(StoreError::NameTaken { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                } else {
                    store.upsert_sandbox_config(new(SandboxType::Local)).await.unwrap();
                }
            });
        }
        tasks.join_all().await;
        let all = store.sandbox_configs(&SandboxConfigFilter::default()).await.unwrap();
        assert_eq!(all.len(), 1);
    }

    async fn sandbox_configurations_are_listed_by_age_and_type(database) {
        let store = database.open().await;
        let mut ids = Vec::new();
        for sandbox_type in SandboxType::ALL {
            ids.push(store.create_sandbox_config(new(sandbox_type)).await.unwrap().id);
        }
        let found = async |filter: SandboxConfigFilter| {
            let found = store.sandbox_configs(&filter).await.unwrap();
            found.into_iter().map(|config| config.id).collect::<Vec<_>>()
        };
        let all = SandboxConfigFilter::default();
        assert_eq!(found(all.clone()).await, ids);
        let modal = SandboxConfigFilter { sandbox_type: Some(SandboxType::Modal), ..all.clone() };
        assert_eq!(found(modal).await, ids[2..]);
        let after = SandboxConfigFilter { after: Some(ids[0].clone()), ..all.clone() };
        assert_eq!(found(after.clone()).await, ids[1..]);
        assert_eq!(found(SandboxConfigFilter { limit: Some(1), ..after }).await, ids[1..2]);
        let unknown = SandboxConfigFilter { after: Some("sandbox-0".to_owned()), ..all };
        let error = store.sandbox_configs(&unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    }

    async fn an_update_changes_the_configuration_and_not_its_type(database) {
        let store = database.open().await;
        let first = store.create_sandbox_config(new(SandboxType::Local)).await.unwrap();
        let changed = store.update_sandbox_config(&first.id, |config| {
            config.config = json!({ "venv_name": "v" });
            config.last_updated_by_id = Some("user-2".to_owned());
            config.id = "sandbox-other".to_owned();
            config.sandbox_type = SandboxType::Modal;
            config.created_by_id = None;
            config.created_at = Timestamp::from_micros(0);
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.unwrap();
        let expected = SandboxConfig {
            config: json!({ "venv_name": "v" }),
            last_updated_by_id: Some("user-2".to_owned()),
            updated_at: changed.updated_at,
            ..first.clone()
        };
        assert_eq!(changed, expected);
        assert!(changed.updated_at >= first.updated_at);
        assert_eq!(store.sandbox_config(&first.id).await.unwrap(), Some(changed.clone()));
        let refused = store.update_sandbox_config(&first.id, |config| {
            config.config = json!(null);
            Err(StoreError::Closed)
        });
        assert!(matches!(refused.await, Err(StoreError::Closed)));
        assert_eq!(store.sandbox_config(&first.id).await.unwrap(), Some(changed));
        let unchanged = |_: &mut SandboxConfig| Ok::<_, StoreError>(());
        let error = store.update_sandbox_config("sandbox-0", unchanged).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no sandbox configuration sandbox-0");
    }

    async fn changes_of_a_configuration_at_the_same_time_lose_nothing(database) {
        let store = database.open().await;
        let config = NewSandboxConfig { config: json!({}), ..new(SandboxType::Local) };
        let id = store.create_sandbox_config(config).await.unwrap().id;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let (store, id) = (store.clone(), id.clone());
            tasks.spawn(async move {
                let change = |config: &mut SandboxConfig| {
                    config.config[number.to_string()] = json!(number);
                    Ok::<_, StoreError>(())
                };
                store.update_sandbox_config(&id, change).await.unwrap();
            });
        }
        tasks.join_all().await;
        let config = store.sandbox_config(&id).await.unwrap().unwrap().config;
        assert_eq!(config.as_object().unwrap().len(), 24);
    }

    async fn a_deleted_configuration_is_gone_and_its_type_is_free(database) {
        let store = database.open().await;
        let first = store.create_sandbox_config(new(SandboxType::Local)).await.unwrap();
        assert!(store.delete_sandbox_config(&first.id).await.unwrap());
        assert!(!store.delete_sandbox_config(&first.id).await.unwrap());
        assert_eq!(store.sandbox_config(&first.id).await.unwrap(), None);
        let second = store.create_sandbox_config(new(SandboxType::Local)).await.unwrap();
        assert_ne!(second.id, first.id);
    }

    async fn unusable_configurations_are_refused(database) {
        let store = database.open().await;
        let large = Value::from("x".repeat(sandbox_config::SANDBOX_CONFIG_MAX));
        let deep = (0..200).fold(json!({}), |value, _| json!([value]));
        let base = new(SandboxType::Local);
        for (new, expected) in [
            (NewSandboxConfig { config: large, ..base.clone() },
                "the sandbox configuration is larger than 256 KiB"),
            (NewSandboxConfig { config: deep, ..base.clone() },
                "the sandbox configuration nests deeper than 100 levels"),
            (NewSandboxConfig { user_id: Some("\0".to_owned()), ..base },
                "the user's id contains a NUL character"),
        ] {
            let error = store.create_sandbox_config(new.clone()).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
            let error = store.upsert_sandbox_config(new).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for error in [
            store.sandbox_config("\0").await.map(drop).unwrap_err(),
            store.delete_sandbox_config("\0").await.map(drop).unwrap_err(),
            store.sandbox_variables("\0", None, None).await.map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        }
    }
}

#[test]
fn a_type_of_sandbox_is_written_the_same_everywhere() {
    for sandbox_type in SandboxType::ALL {
        assert_eq!(sandbox_type.as_str().parse(), Ok(sandbox_type));
        assert_eq!(
            serde_json::to_value(sandbox_type).unwrap(),
            sandbox_type.as_str()
        );
    }
    let error = "Local".parse::<SandboxType>().unwrap_err();
    assert_eq!(error.to_string(), "a sandbox's type is local, e2b or modal");
}
