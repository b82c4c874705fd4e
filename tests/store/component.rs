use bulkhead_domain::Digest;
use bulkhead_store::{
    ComponentFilter, ComponentStatus, Grant, GrantFilter, NewComponent, Standing, StateNamespace,
    Store, StoreError,
};
use serde_json::json;

use super::{always, raw};

fn component(name: &str, bytes: &[u8]) -> NewComponent {
    NewComponent {
        name: name.to_owned(),
        digest: Digest::of(bytes),
        bytes: bytes.to_owned(),
        description: json!({ "tools": [name], "nul": "\0", "emoji": "🦀" }),
    }
}

async fn active_digests(store: &Store, name: &str) -> Vec<Digest> {
    let filter = ComponentFilter {
        name: Some(name.to_owned()),
        status: Some(ComponentStatus::Active),
        ..Default::default()
    };
    store
        .components(&filter)
        .await
        .unwrap()
        .iter()
        .map(|record| record.digest)
        .collect()
}

on_both! {
    async fn a_component_reads_back_as_it_was_put(database) {
        let store = database.open().await;
        let bytes: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
        let new = component("fetch", &bytes);
        let put = store.put_component(new.clone(), always(ComponentStatus::Active)).await.unwrap();
        assert_eq!((put.name.as_str(), put.digest, put.size), ("fetch", new.digest, 3_000_000));
        assert_eq!(put.description, new.description);
        assert_eq!(store.component(&new.digest).await.unwrap(), Some(put.clone()));
        assert_eq!(store.component_by_name("fetch").await.unwrap(), Some(put));
        assert_eq!(store.component_bytes(&new.digest).await.unwrap(), Some(bytes));
        let missing = Digest::of(b"missing");
        assert_eq!(store.component(&missing).await.unwrap(), None);
        assert_eq!(store.component_bytes(&missing).await.unwrap(), None);
        assert_eq!(store.component_by_name("missing").await.unwrap(), None);
    }

    async fn an_active_version_retires_the_one_before(database) {
        let store = database.open().await;
        let put = |bytes: &'static [u8], status| store.put_component(component("a", bytes), always(status));
        let first = put(b"1", ComponentStatus::Active).await.unwrap();
        let second = put(b"2", ComponentStatus::Active).await.unwrap();
        let former = store.component(&first.digest).await.unwrap().unwrap();
        assert_eq!(former.status, ComponentStatus::Retired);
        assert_eq!(active_digests(&store, "a").await, [second.digest]);
    }

    async fn pushing_the_same_version_again_changes_nothing(database) {
        let store = database.open().await;
        let first =
            store.put_component(component("a", b"1"), always(ComponentStatus::Active)).await.unwrap();
        for status in
            [ComponentStatus::Active, ComponentStatus::Pending, ComponentStatus::Retired]
        {
            let again = store.put_component(component("a", b"1"), always(status)).await.unwrap();
            assert_eq!(again, first);
        }
        assert_eq!(store.components(&ComponentFilter::default()).await.unwrap(), [first]);
    }

    async fn pushing_a_retired_version_again_brings_it_back(database) {
        let store = database.open().await;
        for bytes in [b"1", b"2", b"1"] {
            let new = component("a", bytes);
            store.put_component(new, always(ComponentStatus::Active)).await.unwrap();
            assert_eq!(active_digests(&store, "a").await, [Digest::of(bytes)]);
        }
    }

    async fn a_pending_version_becomes_active_by_consent_alone(database) {
        let store = database.open().await;
        let old = store.put_component(component("a", b"1"), always(ComponentStatus::Active)).await.unwrap();
        let new =
            store.put_component(component("a", b"2"), always(ComponentStatus::Pending)).await.unwrap();
        assert_eq!(new.status, ComponentStatus::Pending);
        assert_eq!(active_digests(&store, "a").await, [old.digest]);
        let wrong = store.activate_component("b", &new.digest).await.unwrap_err();
        assert!(matches!(wrong, StoreError::NotFound { .. }), "{wrong:?}");
        let active = store.activate_component("a", &new.digest).await.unwrap();
        assert_eq!(active.status, ComponentStatus::Active);
        assert_eq!(active_digests(&store, "a").await, [new.digest]);
        assert_eq!(store.activate_component("a", &new.digest).await.unwrap(), active);
    }

    async fn many_pushes_at_once_leave_one_active_version(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24_u8 {
            let store = store.clone();
            let new = component("a", &[number % 12]);
            tasks.spawn(async move { store.put_component(new, always(ComponentStatus::Active)).await });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
        assert_eq!(active_digests(&store, "a").await.len(), 1);
        let all = store.components(&ComponentFilter::default()).await.unwrap();
        assert_eq!(all.len(), 12);
    }

    async fn pushes_at_once_by_two_servers_decide_one_after_the_other(database) {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..8_u8 {
            let store = database.open().await;
            tasks.spawn(async move {
                let mut seen = (None, false);
                let decide = |standing: Standing<'_>| {
                    seen = (standing.active.map(|active| active.digest), standing.is_first);
                    Ok::<_, StoreError>(ComponentStatus::Active)
                };
                let put = store.put_component(component("a", &[number]), decide).await;
                (put.unwrap().digest, seen)
            });
        }
        let mut followers = std::collections::HashMap::new();
        while let Some(done) = tasks.join_next().await {
            let (digest, (seen, is_first)) = done.unwrap();
            assert_eq!(seen.is_none(), is_first);
            assert!(followers.insert(seen, digest).is_none(), "two followed {seen:?}");
        }
        let mut last = None;
        while let Some(next) = followers.remove(&last) {
            last = Some(next);
        }
        assert!(followers.is_empty());
        let store = database.open().await;
        assert_eq!(active_digests(&store, "a").await, [last.unwrap()]);
    }

    async fn bytes_of_another_digest_are_refused(database) {
        let store = database.open().await;
        let new = NewComponent { digest: Digest::of(b"other"), ..component("a", b"1") };
        let error = store.put_component(new, always(ComponentStatus::Active)).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        assert!(store.components(&ComponentFilter::default()).await.unwrap().is_empty());
    }

    async fn bytes_that_changed_in_the_database_are_not_given_out(database) {
        let store = database.open().await;
        let put = store.put_component(component("a", b"1"), always(ComponentStatus::Active)).await.unwrap();
        database.script("UPDATE components SET bytes = (SELECT key_check FROM installation)")
            .await;
        let error = store.component_bytes(&put.digest).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }

    async fn the_same_bytes_under_another_name_are_refused(database) {
        let store = database.open().await;
        store.put_component(component("a", b"1"), always(ComponentStatus::Active)).await.unwrap();
        let error =
            store.put_component(component("b", b"1"), always(ComponentStatus::Active)).await.unwrap_err();
        assert!(matches!(&error, StoreError::OtherName { name } if name == "a"), "{error:?}");
        assert_eq!(raw::number(&database, "SELECT COUNT(*) FROM component_names").await, 1);
    }

    async fn unusable_names_are_refused(database) {
        let store = database.open().await;
        for name in ["", "a\0b", &"a".repeat(513)] {
            let put = store.put_component(component(name, b"1"), always(ComponentStatus::Active)).await;
            let error = put.unwrap_err();
            let expected = matches!(error, StoreError::Invalid { .. } | StoreError::Quota { .. });
            assert!(expected, "{name:?}: {error:?}");
        }
    }

    async fn deleting_the_last_version_takes_the_grants_of_its_name(database) {
        let store = database.open().await;
        for (name, bytes) in [("a", b"1"), ("a", b"2"), ("b", b"3")] {
            store.put_component(component(name, bytes), always(ComponentStatus::Active)).await.unwrap();
            store.put_grant(&Grant::new(name, json!({}))).await.unwrap();
        }
        let count = async || store.grants(&GrantFilter::default()).await.unwrap().len();
        assert!(store.delete_component(&Digest::of(b"2")).await.unwrap());
        assert_eq!(count().await, 3, "version 1 of a is left");
        assert!(store.delete_component(&Digest::of(b"1")).await.unwrap());
        let left = store.grants(&GrantFilter::default()).await.unwrap();
        assert_eq!(left.iter().map(|grant| grant.component.as_str()).collect::<Vec<_>>(), ["b"]);
        assert!(!store.delete_component(&Digest::of(b"1")).await.unwrap());
    }

    async fn deleting_the_last_version_takes_the_state_of_its_tools_and_of_no_others(database) {
        let store = database.open().await;
        for bytes in [b"1", b"2"] {
            store.put_component(component("a_b", bytes), always(ComponentStatus::Active)).await.unwrap();
        }
        // The last ones match a pattern, sort next to it or continue the name.
        let own = ["a_b/t", "a_b/u"];
        let others = ["a_b", "a_b0", "a_b.", "a_bc/t", "axb/t", "A_B/t", "a_b-c/t"];
        for tool in own.iter().chain(&others) {
            for agent in [None, Some("x")] {
                let space = StateNamespace::new(*tool, agent);
                store.state_put(&space, "key", vec![1], None).await.unwrap();
            }
        }
        let count = async |table: &str| {
            raw::number(&database, &format!("SELECT COUNT(*) FROM {table}")).await
        };
        assert!(store.delete_component(&Digest::of(b"1")).await.unwrap());
        assert_eq!(count("state_namespaces").await, 18, "another version is left");
        assert!(store.delete_component(&Digest::of(b"2")).await.unwrap());
        assert_eq!((count("state_namespaces").await, count("state_entries").await), (14, 14));
        for tool in others {
            let space = StateNamespace::new(tool, Some("x"));
            assert!(store.state_get(&space, "key").await.unwrap().is_some(), "{tool}");
        }
    }

    async fn pages_of_components_hold_each_once_also_at_equal_times(database) {
        let store = database.open().await;
        for number in 0..25_u8 {
            let new = component(&format!("name {number}"), &[number]);
            store.put_component(new, always(ComponentStatus::Active)).await.unwrap();
        }
        database.script("UPDATE components SET created_at = 5").await;
        let mut seen = Vec::new();
        let mut filter = ComponentFilter { limit: Some(4), ..Default::default() };
        loop {
            let page = store.components(&filter).await.unwrap();
            let Some(last) = page.last() else { break };
            assert!(page.len() <= 4);
            filter.after = Some(last.digest);
            seen.extend(page.iter().map(|record| record.digest.to_string()));
        }
        let mut sorted = seen.clone();
        sorted.sort();
        sorted.dedup();
        sorted.reverse();
        assert_eq!((seen.len(), seen), (25, sorted), "by digest, downwards, each once");
        filter.after = Some(Digest::of(b"missing"));
        let error = store.components(&filter).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    }
}
