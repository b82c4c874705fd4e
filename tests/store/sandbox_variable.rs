use bulkhead_store::{
    InstallationKey, NewSandboxVariable, SandboxType, SandboxVariable, Store, StoreError,
    sandbox_variable::{VARIABLE_VALUE_MAX, VARIABLES_MAX},
    testing::Kind,
};
use zeroize::Zeroizing;

use super::{raw, sandbox_config};

const SECRET: &str = "correct horse battery staple 🦀";

fn variable(key: &str, value: &str) -> NewSandboxVariable {
    NewSandboxVariable {
        key: key.to_owned(),
        value: Zeroizing::new(value.to_owned()),
        description: Some("what for 🦀".to_owned()),
        user_id: Some("user-1".to_owned()),
    }
}

/// A configuration to put variables into.
async fn config(store: &Store, sandbox_type: SandboxType) -> String {
    let config = store.create_sandbox_config(sandbox_config::new(sandbox_type));
    config.await.unwrap().id
}

async fn environment(store: &Store, sandbox_type: SandboxType) -> Vec<(String, String)> {
    let variables = store.sandbox_variables_of(sandbox_type).await.unwrap();
    let text = |(key, value): (String, Zeroizing<String>)| (key, value.to_string());
    variables.into_iter().map(text).collect()
}

fn set(value: &str) -> impl FnOnce(&mut SandboxVariable) -> Result<(), StoreError> + Send {
    move |variable| {
        variable.value = Zeroizing::new(value.to_owned());
        Ok(())
    }
}

on_both! {
    async fn a_variable_reads_back_and_reaches_the_calls_of_its_type_alone(database) {
        let store = database.open().await;
        assert!(environment(&store, SandboxType::Local).await.is_empty());
        let local = config(&store, SandboxType::Local).await;
        let modal = config(&store, SandboxType::Modal).await;
        let b = store.create_sandbox_variable(&local, variable("B", SECRET)).await.unwrap();
        let bare = NewSandboxVariable { description: None, user_id: None, ..variable("A", "") };
        let a = store.create_sandbox_variable(&local, bare).await.unwrap();
        let other = store.create_sandbox_variable(&modal, variable("B", "x")).await.unwrap();
        assert!(b.id.starts_with("sandbox-env-") && b.id.len() == 48, "{}", b.id);
        assert_eq!((b.sandbox_config_id.as_str(), b.value.as_str()), (local.as_str(), SECRET));
        assert_eq!(b.created_by_id, b.last_updated_by_id);
        store.close().await;
        let store = database.open().await;
        for stored in [&a, &b, &other] {
            assert!(store.sandbox_variable(&stored.id).await.unwrap().as_ref() == Some(stored));
        }
        assert!(store.sandbox_variable("sandbox-env-0").await.unwrap().is_none());
        assert!(store.sandbox_variables(&local, None, None).await.unwrap() == [b, a]);
        let expected = [("A".to_owned(), String::new()), ("B".to_owned(), SECRET.to_owned())];
        assert_eq!(environment(&store, SandboxType::Local).await, expected);
        assert_eq!(environment(&store, SandboxType::Modal).await.len(), 1);
        assert!(environment(&store, SandboxType::E2b).await.is_empty());
    }

    async fn a_key_is_unique_in_its_configuration(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let first = store.create_sandbox_variable(&local, variable("K", "1")).await.unwrap();
        let error = store.create_sandbox_variable(&local, variable("K", "2")).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a sandbox variable named K");
        let new = NewSandboxVariable { user_id: None, ..variable("K", "3") };
        let second = store.upsert_sandbox_variable(&local, new).await.unwrap();
        assert!(!second.is_new);
        let expected = SandboxVariable {
            value: Zeroizing::new("3".to_owned()),
            last_updated_by_id: None,
            updated_at: second.record.updated_at,
            ..first
        };
        assert!(second.record == expected);
        assert!(store.sandbox_variable(&expected.id).await.unwrap() == Some(expected.clone()));
        let other = store.upsert_sandbox_variable(&local, variable("L", "")).await.unwrap();
        assert!(other.is_new);
        let rename = |variable: &mut SandboxVariable| {
            variable.key = "K".to_owned();
            Ok::<_, StoreError>(())
        };
        let error = store.update_sandbox_variable(&other.record.id, rename).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { .. }), "{error:?}");
        store.update_sandbox_variable(&expected.id, rename).await.unwrap();
    }

    async fn an_update_changes_what_it_says_and_nothing_that_must_stay(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let first = store.create_sandbox_variable(&local, variable("K", "1")).await.unwrap();
        let changed = store.update_sandbox_variable(&first.id, |variable| {
            variable.key = "L".to_owned();
            variable.description = None;
            variable.id = "sandbox-env-other".to_owned();
            variable.sandbox_config_id = "sandbox-other".to_owned();
            variable.created_by_id = None;
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.unwrap();
        let expected = SandboxVariable {
            key: "L".to_owned(),
            description: None,
            updated_at: changed.updated_at,
            ..first.clone()
        };
        assert!(changed == expected);
        assert!(store.sandbox_variable(&first.id).await.unwrap() == Some(changed));
        store.update_sandbox_variable(&first.id, set("2")).await.unwrap();
        let expected = [("L".to_owned(), "2".to_owned())];
        assert_eq!(environment(&store, SandboxType::Local).await, expected);
        let refused = |_: &mut SandboxVariable| Err(StoreError::Closed);
        let error = store.update_sandbox_variable(&first.id, refused).await.unwrap_err();
        assert!(matches!(error, StoreError::Closed));
        let error = store.update_sandbox_variable("sandbox-env-0", set("")).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no sandbox variable sandbox-env-0");
    }

    async fn variables_are_listed_page_by_page(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let other = config(&store, SandboxType::E2b).await;
        let foreign = store.create_sandbox_variable(&other, variable("K", "")).await.unwrap();
        let mut ids = Vec::new();
        for number in 0..10 {
            let new = variable(&format!("K{number}"), "");
            ids.push(store.create_sandbox_variable(&local, new).await.unwrap().id);
        }
        let mut listed: Vec<String> = Vec::new();
        loop {
            let after = listed.last().map(String::as_str);
            let page = store.sandbox_variables(&local, after, Some(3)).await.unwrap();
            if page.is_empty() { break }
            listed.extend(page.into_iter().map(|variable| variable.id));
        }
        assert_eq!(listed, ids);
        for (config, after) in [
            (&local, Some("sandbox-env-0")),
            (&local, Some(foreign.id.as_str())),
            (&"sandbox-0".to_owned(), None),
        ] {
            let error = store.sandbox_variables(config, after, None).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
    }

    async fn deleting_takes_the_variable_and_a_configuration_takes_all_of_its_own(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let first = store.create_sandbox_variable(&local, variable("A", "1")).await.unwrap();
        let second = store.create_sandbox_variable(&local, variable("B", "2")).await.unwrap();
        assert!(store.delete_sandbox_variable(&first.id).await.unwrap());
        assert!(!store.delete_sandbox_variable(&first.id).await.unwrap());
        assert_eq!(environment(&store, SandboxType::Local).await.len(), 1);
        assert!(store.delete_sandbox_config(&local).await.unwrap());
        assert!(store.sandbox_variable(&second.id).await.unwrap().is_none());
        assert!(environment(&store, SandboxType::Local).await.is_empty());
        let error = store.create_sandbox_variable(&local, variable("A", "")).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "sandbox configuration", .. }));
        let count = "SELECT COUNT(*) FROM sandbox_variables";
        assert_eq!(raw::number(&database, count).await, 0);
    }

    async fn what_many_do_at_once_to_the_same_variables_all_holds(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let shared = store.create_sandbox_variable(&local, variable("S", "")).await.unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let (store, local, id) = (store.clone(), local.clone(), shared.id.clone());
            tasks.spawn(async move {
                let add = |variable: &mut SandboxVariable| {
                    variable.value.push('x');
                    Ok::<_, StoreError>(())
                };
                store.update_sandbox_variable(&id, add).await.unwrap();
                let new = variable("K", &number.to_string());
                store.upsert_sandbox_variable(&local, new).await.unwrap().record.id
            });
        }
        let mut ids = tasks.join_all().await;
        ids.dedup();
        assert_eq!(ids.len(), 1);
        let environment = environment(&store, SandboxType::Local).await;
        assert_eq!(environment.len(), 2);
        assert_eq!(environment[1].1, "x".repeat(24));
    }

    async fn a_change_does_not_bring_back_what_is_deleted_meanwhile(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        for _ in 0..40 {
            let id = store.upsert_sandbox_variable(&local, variable("K", "")).await.unwrap();
            let id = id.record.id;
            let slowly = |variable: &mut SandboxVariable| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                variable.value.push('x');
                Ok::<_, StoreError>(())
            };
            let task = tokio::spawn({
                let (store, id) = (store.clone(), id.clone());
                async move { store.update_sandbox_variable(&id, slowly).await }
            });
            let (changed, deleted) = tokio::join!(task, store.delete_sandbox_variable(&id));
            assert!(deleted.unwrap());
            if let Err(error) = changed.unwrap() {
                assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
            }
            assert!(store.sandbox_variable(&id).await.unwrap().is_none());
        }
    }

    async fn neither_the_database_nor_a_log_shows_a_value(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let new = variable("K", SECRET);
        assert!(!format!("{new:?}").contains("staple"));
        let stored = store.create_sandbox_variable(&local, new).await.unwrap();
        store.update_sandbox_variable(&stored.id, set(&format!("{SECRET}."))).await.unwrap();
        assert!(!format!("{stored:?}").contains("staple"));
        let (sealed, shown) = match database.kind() {
            Kind::Sqlite => ("length(sealed)", "instr(sealed, CAST('staple' AS BLOB))"),
            Kind::Postgres => {
                ("length(sealed)::BIGINT", "position('staple'::BYTEA IN sealed)::BIGINT")
            }
        };
        let number = async |what| {
            raw::number(&database, &format!("SELECT {what} FROM sandbox_variables")).await
        };
        let length = i64::try_from(24 + SECRET.len() + 1 + 16).unwrap();
        assert_eq!(number(sealed).await, length, "nonce, ciphertext, tag");
        assert_eq!(number(shown).await, 0);
        if database.kind() == Kind::Sqlite {
            for file in std::fs::read_dir(database.folder().unwrap()).unwrap() {
                let bytes = std::fs::read(file.unwrap().path()).unwrap();
                assert!(!bytes.windows(6).any(|part| part == b"staple"));
            }
        }
    }

    async fn a_value_opens_only_where_it_was_put(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        let first = store.create_sandbox_variable(&local, variable("A", SECRET)).await.unwrap();
        for change in [
            "UPDATE sandbox_variables SET key = 'B'",
            "UPDATE sandbox_variables SET id = 'sandbox-env-other'",
            "UPDATE sandbox_configs SET sandbox_type = 'modal'",
        ] {
            database.script(change).await;
            let errors = [
                store.sandbox_variables(&local, None, None).await.map(drop).unwrap_err(),
                store.sandbox_variables_of(SandboxType::Local).await.map(drop).err()
                    .or(store.sandbox_variables_of(SandboxType::Modal).await.map(drop).err())
                    .unwrap(),
            ];
            for error in errors {
                assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
            }
            let back = format!("UPDATE sandbox_variables SET key = 'A', id = '{}'", first.id);
            database.script(&back).await;
            database.script("UPDATE sandbox_configs SET sandbox_type = 'local'").await;
            assert_eq!(environment(&store, SandboxType::Local).await.len(), 1);
        }
        store.close().await;
        let other = InstallationKey::generate().unwrap();
        assert!(matches!(Store::open(database.url(), other).await, Err(StoreError::WrongKey)));
    }

    async fn unusable_variables_and_too_many_are_refused(database) {
        let store = database.open().await;
        let local = config(&store, SandboxType::Local).await;
        for (new, expected) in [
            (variable("", ""), "the sandbox variable's key is empty"),
            (variable("A=B", ""),
                "the sandbox variable's key contains an equals sign, which no environment allows"),
            (variable("A\0", ""), "the sandbox variable's key contains a NUL character"),
            (variable("A", "\0"), "the sandbox variable's value contains a NUL character"),
            (variable("A", &"x".repeat(VARIABLE_VALUE_MAX + 1)),
                "the sandbox variable's value is over its limit of 65536"),
            (NewSandboxVariable { description: Some("x".repeat(4097)), ..variable("A", "") },
                "the sandbox variable's description is over its limit of 4096"),
        ] {
            let error = store.create_sandbox_variable(&local, new.clone()).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
            let error = store.upsert_sandbox_variable(&local, new).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let largest = "x".repeat(VARIABLE_VALUE_MAX);
        for number in 0..VARIABLES_MAX {
            let value = if number == 0 { largest.as_str() } else { "" };
            let new = variable(&format!("K{number}"), value);
            store.create_sandbox_variable(&local, new).await.unwrap();
        }
        let error = store.create_sandbox_variable(&local, variable("over", "")).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { limit: 256, .. }), "{error:?}");
        store.upsert_sandbox_variable(&local, variable("K1", "new")).await.unwrap();
        assert_eq!(environment(&store, SandboxType::Local).await.len() as u64, VARIABLES_MAX);
    }
}
