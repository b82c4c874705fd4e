use bulkhead_store::{StateNamespace, StoreError, state};

use super::raw;

fn space() -> StateNamespace {
    StateNamespace::new("tool", Some("agent"))
}

fn conflict(error: &StoreError) -> Option<u64> {
    match error {
        StoreError::Conflict { current } => Some(*current),
        _ => None,
    }
}

on_both! {
    async fn a_value_changes_by_compare_and_swap(database) {
        let store = database.open().await;
        let space = space();
        assert_eq!(store.state_get(&space, "k").await.unwrap(), None);
        let first = store.state_put(&space, "k", b"1".to_vec(), None).await.unwrap();
        let again = store.state_put(&space, "k", b"x".to_vec(), None).await.unwrap_err();
        assert_eq!(conflict(&again), Some(first));
        let second = store.state_put(&space, "k", b"2".to_vec(), Some(first)).await.unwrap();
        assert!(second > first);
        let stale = store.state_put(&space, "k", b"x".to_vec(), Some(first)).await.unwrap_err();
        assert_eq!(conflict(&stale), Some(second));
        let entry = store.state_get(&space, "k").await.unwrap().unwrap();
        assert_eq!((entry.value.as_slice(), entry.version), (&b"2"[..], second));
        let stale = store.state_delete(&space, "k", first).await.unwrap_err();
        assert_eq!(conflict(&stale), Some(second));
        store.state_delete(&space, "k", second).await.unwrap();
        let gone = store.state_delete(&space, "k", second).await.unwrap_err();
        assert_eq!(conflict(&gone), Some(0));
        let gone = store.state_put(&space, "k", b"x".to_vec(), Some(second)).await.unwrap_err();
        assert_eq!(conflict(&gone), Some(0));
    }

    async fn a_key_that_is_made_again_has_a_version_of_its_own(database) {
        let store = database.open().await;
        let first = store.state_put(&space(), "k", vec![], None).await.unwrap();
        store.state_delete(&space(), "k", first).await.unwrap();
        let second = store.state_put(&space(), "k", vec![], None).await.unwrap();
        assert_ne!(first, second, "who still holds the first must not overwrite");
        assert!(store.clear_state(&space()).await.unwrap());
        assert!(!store.clear_state(&space()).await.unwrap());
        assert!(store.state_put(&space(), "k", vec![], None).await.unwrap() > second);
    }

    async fn no_increment_of_many_tasks_is_lost(database) {
        const TASKS: u64 = 16;
        const INCREMENTS: u64 = 10;
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..TASKS {
            let store = store.clone();
            tasks.spawn(async move {
                let mut done = 0;
                while done < INCREMENTS {
                    let entry = store.state_get(&space(), "n").await.unwrap();
                    let (count, version) = entry.map_or((0, None), |entry| {
                        let count = u64::from_le_bytes(entry.value.try_into().unwrap());
                        (count, Some(entry.version))
                    });
                    let value = (count + 1).to_le_bytes().to_vec();
                    match store.state_put(&space(), "n", value, version).await {
                        Ok(_) => done += 1,
                        Err(error) => assert!(conflict(&error).is_some(), "{error:?}"),
                    }
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let entry = store.state_get(&space(), "n").await.unwrap().unwrap();
        assert_eq!(entry.value, (TASKS * INCREMENTS).to_le_bytes());
    }

    async fn namespaces_do_not_see_each_other(database) {
        let store = database.open().await;
        let spaces = [
            space(),
            StateNamespace::new("tool", None),
            StateNamespace::new("tool", Some("other")),
            StateNamespace::new("other", Some("agent")),
        ];
        for (number, space) in spaces.iter().enumerate() {
            store.state_put(space, "k", vec![number as u8], None).await.unwrap();
        }
        for (number, space) in spaces.iter().enumerate() {
            let entry = store.state_get(space, "k").await.unwrap().unwrap();
            assert_eq!(entry.value, [number as u8]);
            assert_eq!(store.state_keys(space, "", 10).await.unwrap(), ["k"]);
        }
    }

    async fn keys_are_listed_by_prefix_in_the_order_of_their_bytes(database) {
        let store = database.open().await;
        let mut keys =
            ["", "a", "B", "a/1", "a/2", "a\0b", "a0", "ä", "_", "%", "a%", "🦀", "\u{10ffff}"];
        for key in keys {
            store.state_put(&space(), key, vec![], None).await.unwrap();
        }
        keys.sort_unstable();
        assert_eq!(store.state_keys(&space(), "", 100).await.unwrap(), keys);
        assert_eq!(store.state_keys(&space(), "a/", 100).await.unwrap(), ["a/1", "a/2"]);
        assert_eq!(store.state_keys(&space(), "%", 100).await.unwrap(), ["%"]);
        assert_eq!(store.state_keys(&space(), "🦀", 100).await.unwrap(), ["🦀"]);
        assert_eq!(store.state_keys(&space(), "", 2).await.unwrap(), keys[..2]);
        assert!(store.state_keys(&space(), "x", 100).await.unwrap().is_empty());
    }

    async fn what_is_over_a_limit_is_refused_and_changes_nothing(database) {
        let store = database.open().await;
        let quota = |error: StoreError| match error {
            StoreError::Quota { limit, .. } => limit,
            error => panic!("{error:?}"),
        };
        let put = |key: String, size: usize, expected| {
            let store = store.clone();
            async move { store.state_put(&space(), &key, vec![0; size], expected).await }
        };
        let long = "k".repeat(state::STATE_KEY_MAX + 1);
        assert_eq!(quota(put(long, 1, None).await.unwrap_err()), 512);
        let largest = state::STATE_VALUE_MAX;
        assert_eq!(quota(put("k".to_owned(), largest + 1, None).await.unwrap_err()), 256 << 10);
        // 63 of the largest values and their keys fit into 16 MiB, 64 do not.
        let mut versions = Vec::new();
        for number in 0..63 {
            versions.push(put(number.to_string(), largest, None).await.unwrap());
        }
        assert_eq!(quota(put("63".to_owned(), largest, None).await.unwrap_err()), 16 << 20);
        assert_eq!(store.state_keys(&space(), "", 100).await.unwrap().len(), 63);
        // Smaller in place of larger frees room.
        put("0".to_owned(), 1, Some(versions[0])).await.unwrap();
        put("63".to_owned(), largest, None).await.unwrap();
        let held = "SELECT bytes FROM state_namespaces";
        let counted = "SELECT CAST(SUM(size) AS BIGINT) FROM state_entries";
        assert_eq!(raw::number(&database, held).await, raw::number(&database, counted).await);
    }

    async fn a_namespace_holds_a_thousand_keys_and_no_more(database) {
        let store = database.open().await;
        store.state_put(&space(), "first", vec![], None).await.unwrap();
        database.script("UPDATE state_namespaces SET entries = 999").await;
        let last = store.state_put(&space(), "last", vec![], None).await.unwrap();
        let error = store.state_put(&space(), "over", vec![], None).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { limit: 1000, .. }), "{error:?}");
        store.state_put(&space(), "last", vec![1], Some(last)).await.unwrap();
        let first = store.state_get(&space(), "first").await.unwrap().unwrap().version;
        store.state_delete(&space(), "first", first).await.unwrap();
        store.state_put(&space(), "over", vec![], None).await.unwrap();
    }
}
