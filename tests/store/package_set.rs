use bulkhead_domain::{Digest, Timestamp};
use bulkhead_store::{
    NewPackageSet, NewTool, PackageSet, PackageSetFilter, StoreError, package_set::PACKAGE_SET_MAX,
};
use serde_json::{Value, json};

use super::tool::custom;

fn set(name: &str) -> NewPackageSet {
    NewPackageSet {
        requirements: json!([{ "name": name }]),
        packages: json!([{ "name": name, "version": "1.0", "hash": "sha256:00", "x": "\0🦀" }]),
        size: 1 << 20,
    }
}

on_both! {
    async fn a_package_set_reads_back_under_the_digest_of_its_packages(database) {
        let store = database.open().await;
        let stored = store.put_package_set(set("idna")).await.unwrap();
        let expected = PackageSet {
            digest: set("idna").digest(),
            requirements: set("idna").requirements,
            packages: set("idna").packages,
            size: 1 << 20,
            created_at: stored.created_at,
            last_used_at: stored.created_at,
        };
        assert_eq!(stored, expected);
        store.close().await;
        let store = database.open().await;
        assert_eq!(store.package_set(&stored.digest).await.unwrap(), Some(stored));
        assert_eq!(store.package_set(&Digest::of(b"x")).await.unwrap(), None);
    }

    async fn a_set_that_is_there_already_stays_as_it_is_and_counts_as_used(database) {
        let store = database.open().await;
        let first = store.put_package_set(set("idna")).await.unwrap();
        let again = NewPackageSet { requirements: json!(["idna>=1"]), size: 7, ..set("idna") };
        let again = store.put_package_set(again).await.unwrap();
        let expected = PackageSet { last_used_at: again.last_used_at, ..first.clone() };
        assert_eq!(again, expected);
        assert!(again.last_used_at >= first.last_used_at);
        // A clock that was set back does not make it look unused.
        database.script("UPDATE package_sets SET last_used_at = 9000000000000000").await;
        let future = Timestamp::from_micros(9_000_000_000_000_000);
        assert_eq!(store.put_package_set(set("idna")).await.unwrap().last_used_at, future);
        assert!(store.touch_package_set(&first.digest).await.unwrap());
        assert_eq!(store.package_set(&first.digest).await.unwrap().unwrap().last_used_at, future);
    }

    async fn a_set_that_many_put_at_once_is_one(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..24 {
            let store = store.clone();
            tasks.spawn(async move {
                let set = store.put_package_set(set("idna")).await.unwrap();
                assert!(store.touch_package_set(&set.digest).await.unwrap());
            });
        }
        tasks.join_all().await;
        let all = store.package_sets(&PackageSetFilter::default()).await.unwrap();
        assert_eq!(all.len(), 1);
    }

    async fn a_use_is_written_down_once_a_minute(database) {
        let store = database.open().await;
        let stored = store.put_package_set(set("idna")).await.unwrap();
        assert!(store.touch_package_set(&stored.digest).await.unwrap());
        assert_eq!(store.package_set(&stored.digest).await.unwrap(), Some(stored.clone()));
        let earlier = "UPDATE package_sets SET last_used_at = last_used_at - 60000000";
        database.script(earlier).await;
        assert!(store.touch_package_set(&stored.digest).await.unwrap());
        let touched = store.package_set(&stored.digest).await.unwrap().unwrap();
        assert!(touched.last_used_at > stored.last_used_at);
        assert!(!store.touch_package_set(&Digest::of(b"x")).await.unwrap());
    }

    async fn sets_are_listed_by_their_last_use_and_by_who_needs_them(database) {
        let store = database.open().await;
        let mut digests = Vec::new();
        for (name, at) in [("a", 30), ("b", 10), ("c", 20)] {
            let digest = store.put_package_set(set(name)).await.unwrap().digest;
            let used = format!("UPDATE package_sets SET last_used_at = {at}");
            database.script(&format!("{used} WHERE digest = '{digest}'")).await;
            digests.push(digest);
        }
        let [a, b, c] = digests[..] else { panic!("three sets") };
        let found = async |filter: PackageSetFilter| {
            let found = store.package_sets(&filter).await.unwrap();
            found.into_iter().map(|set| set.digest).collect::<Vec<_>>()
        };
        let all = PackageSetFilter::default();
        assert_eq!(found(all.clone()).await, [b, c, a]);
        assert_eq!(found(PackageSetFilter { limit: Some(2), ..all.clone() }).await, [b, c]);
        let since = |at| Some(Timestamp::from_micros(at));
        let old = PackageSetFilter { unused_since: since(30), ..all.clone() };
        assert_eq!(found(old).await, [b, c]);
        store.upsert_tool(NewTool { packages: Some(b), ..custom("t") }).await.unwrap();
        let free = PackageSetFilter { only_unreferenced: true, ..all };
        assert_eq!(found(free).await, [c, a]);
    }

    async fn a_set_is_deleted_when_no_tool_needs_it(database) {
        let store = database.open().await;
        let digest = store.put_package_set(set("idna")).await.unwrap().digest;
        let new = NewTool { packages: Some(digest), ..custom("t") };
        let tool = store.upsert_tool(new).await.unwrap().record;
        let error = store.delete_package_set(&digest).await.unwrap_err();
        assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
        assert_eq!(error.to_string(), "the package set is in use by tool t");
        assert!(store.delete_tool(&tool.id).await.unwrap());
        assert!(store.delete_package_set(&digest).await.unwrap());
        assert!(!store.delete_package_set(&digest).await.unwrap());
        assert_eq!(store.package_set(&digest).await.unwrap(), None);
    }

    async fn a_set_that_is_deleted_while_tools_are_saved_is_never_missed_by_one(database) {
        let store = database.open().await;
        for round in 0..10 {
            let digest = store.put_package_set(set("idna")).await.unwrap().digest;
            let name = format!("t{round}");
            let save = store.upsert_tool(NewTool { packages: Some(digest), ..custom(&name) });
            let (saved, deleted) = tokio::join!(save, store.delete_package_set(&digest));
            match (saved, deleted) {
                (Ok(saved), Err(StoreError::InUse { .. })) => {
                    store.delete_tool(&saved.record.id).await.unwrap();
                }
                (Err(StoreError::NotFound { what: "package set", .. }), Ok(true)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn unusable_package_sets_are_refused(database) {
        let store = database.open().await;
        let large = || Value::from("x".repeat(PACKAGE_SET_MAX));
        let deep = (0..120).fold(json!({}), |value, _| json!([value]));
        for (new, expected) in [
            (NewPackageSet { requirements: large(), ..set("a") },
                "the list of requirements is larger than 1 MiB"),
            (NewPackageSet { packages: large(), ..set("a") },
                "the list of packages is larger than 1 MiB"),
            (NewPackageSet { packages: deep, ..set("a") },
                "the list of packages nests deeper than 100 levels"),
        ] {
            let error = store.put_package_set(new).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
            assert_eq!(error.to_string(), expected);
        }
        let error = store.put_package_set(NewPackageSet { size: u64::MAX, ..set("a") }).await;
        assert!(matches!(error, Err(StoreError::Quota { .. })));
        assert!(store.package_sets(&PackageSetFilter::default()).await.unwrap().is_empty());
    }
}
